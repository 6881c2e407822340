# SPDX-License-Identifier: MIT
# Completion of mhar-probe for bash. Needs nothing but bash: bash-completion loads it by name, others source it.

# Folders, and files that end in one of the given endings (none given: all files).
_mhar_probe_files ()
{
  local word=$1 name ending
  shift
  compopt -o filenames 2> /dev/null
  while IFS= read -r name; do
    [[ -d ${name/#\~/$HOME} || $# -eq 0 ]] && COMPREPLY+=("$name")
    for ending; do
      [[ $name == *"$ending" ]] && COMPREPLY+=("$name")
    done
  done < <(compgen -f -- "$word")
}

# Checkpoints: folders, and what torch.save writes.
_mhar_probe_checkpoints ()
{
  _mhar_probe_files "$1" .pt .pth .bin
}

_mhar_probe_words ()
{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# What may follow "cuda:": the numbers of the NVIDIA devices that the system shows, or all.
_mhar_probe_gpus ()
{
  local node
  printf 'all '
  for node in /dev/nvidia[0-9]*; do
    [[ -e $node ]] && printf '%s ' "${node#/dev/nvidia}"
  done
}

# The values of an option, after "=" or (none given) after a blank; fails where it takes none there, so that what follows is
# completed as usual.
_mhar_probe_value ()
{
  local option=$1 word=$2 equals=$3
  case $option in
    -t | --text) _mhar_probe_files "$word" ;;
    --tokens) _mhar_probe_files "$word" .u16 .u32 .npy ;;
    -o | --output | --from) _mhar_probe_files "$word" .h5 ;;
    --config | --map) _mhar_probe_files "$word" .json ;;
    -f | --figure) _mhar_probe_files "$word" .pdf .svg .png ;;
    --report)
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      ;;
    --verify | --save-reference) _mhar_probe_files "$word" .safetensors ;;
    -d | --device) _mhar_probe_words 'auto cpu cuda' "$word" ;;
    --precision) _mhar_probe_words 'default fp32 bf16' "$word" ;;
    --routing) _mhar_probe_words 'lookahead plain' "$word" ;;
    --block-delta) _mhar_probe_words 'recursive true' "$word" ;;
    --slicing) _mhar_probe_words 'contiguous interleaved both' "$word" ;;
    --null-kind) _mhar_probe_words 'random shuffled swapped' "$word" ;;
    --null-norm) _mhar_probe_words 'query slice' "$word" ;;
    --table) _mhar_probe_words 'text markdown csv latex' "$word" ;;
    --figure-kind) _mhar_probe_words 'deviation depth-map kl collinearity coefficients ablation compare series reads' "$word" ;;
    --theme) _mhar_probe_words 'light dark' "$word" ;;
    --style) _mhar_probe_words 'default authors' "$word" ;;
    --save-weights)
      # Its value is optional: another option may follow.
      [[ $word == -* ]] && return 1
      _mhar_probe_words 'no f32 f16' "$word"
      ;;
    # Sites: nothing to offer, and only after "=".
    --consensus | --swap-heads | --permute-heads | --null-query | --uniform | --reads) [[ -n $equals ]] || return 1 ;;
    --progress) _mhar_probe_words 'auto always never' "$word" ;;
    # Numbers and text: nothing to offer.
    -p | --prompt | --context | --max-tokens | --skip-first | --batch | --heads | --slices | --null-draws | \
      --null-tokens | --match-sources | --seed | --first-sites | --tolerance | --top-tokens | --checkpoint-every | --max-memory | --ablate | --top-k | --regroup) ;;
    *) return 1 ;;
  esac
  return 0 # whether or not there was anything to offer
}

_mhar_probe ()
{
  # What readline calls the word: without "--option=", which it takes for words of their own.
  local word=$2 i option before='' equals=''
  local options='--kl --depth-maps --collinearity --reads --top-tokens --all --compare --series --slices --slicing --null-draws --null-kind --null-norm --null-tokens
    --match-sources --seed --ablate --consensus --swap-heads --permute-heads --null-query --uniform --top-k --regroup
    --ablation-map --text --prompt --tokens --context --max-tokens --skip-first --batch --device --precision
    --config --map --heads --block-delta --strict --routing --output --save-weights --digest --table --report --json --figure --figure-kind --first-sites
    --theme --style --private --quiet --progress --checkpoint-every --resume --max-memory --info --sites --weights-only --verify --save-reference --tolerance --from --merge --devices --version --help'

  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      _mhar_probe_checkpoints "$word"
      return
    fi
  done
  if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} equals=1
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]] && ((COMP_CWORD >= 2)); then
    option=${COMP_WORDS[COMP_CWORD - 2]} equals=1
  elif [[ ${COMP_LINE:0:COMP_POINT} =~ cuda:[a-z0-9]*$ ]]; then
    # The colon parts words unless COMP_WORDBREAKS was changed; then it is part of this one.
    [[ $word == *:* ]] && before=${word%:*}:
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_mhar_probe_gpus)" -- "${word##*:}")
    return
  else
    option=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  _mhar_probe_value "$option" "$word" "$equals" && return
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == --merge && $word != -* ]]; then
      _mhar_probe_files "$word" .h5
      return
    fi
  done
  if [[ $word == -* ]]; then
    _mhar_probe_words "$options -d -f -h -o -p -q -t" "$word"
  else
    _mhar_probe_checkpoints "$word"
  fi
}

complete -F _mhar_probe mhar-probe
