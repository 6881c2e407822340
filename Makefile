# What a person types. The build itself is meson's (meson.build); this installs what it needs and runs it.

BUILD ?= build
DESTDIR ?=
PREFIX ?= /usr/local
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

BUILD_PACKAGES := gcc meson ninja-build pkg-config libglib2.0-dev libjansson-dev libhdf5-dev \
  libopenblas-openmp-dev libcairo2-dev libpango1.0-dev libgtk-4-dev gettext fonts-dejavu-core python3-docutils libseccomp-dev
TEST_PACKAGES := python3-numpy python3-regex python3-h5py python3-xarray python3-netcdf4 python3-h5netcdf \
  netcdf-bin poppler-utils librsvg2-bin mupdf-tools imagemagick

GUI_TEST_PACKAGES := xvfb dbus-x11 at-spi2-core python3-pyatspi xdotool adwaita-icon-theme desktop-file-utils appstream \
  libgtk-4-bin locales python3-gi gir1.2-gtk-4.0

LONG_TEST_PACKAGES := clang-14 libclang-rt-14-dev clang-tidy-14 cppcheck valgrind

.PHONY: all build demo test test-long test-gui install bench screenshots clean build-packages test-packages gui-test-packages long-test-packages

all: build

# Installs the packages named in the first argument that are missing; says so where there is no apt-get.
define install_missing
	@missing=""; for p in $(1); do \
	  [ "$$(dpkg-query -W -f '$${Status}' $$p 2>/dev/null)" = "install ok installed" ] || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  command -v apt-get >/dev/null || { echo "install these, then run make again:$$missing"; exit 1; }; \
	  echo "installing:$$missing"; \
	  $(SUDO) apt-get install -y -q --no-install-recommends $$missing >/dev/null 2>&1 \
	    || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q --no-install-recommends $$missing; } >/dev/null \
	    || { echo "apt-get could not install:$$missing"; exit 1; }; \
	fi
endef

build-packages:
	$(call install_missing,$(BUILD_PACKAGES))

test-packages: build-packages
	$(call install_missing,$(TEST_PACKAGES))

long-test-packages: gui-test-packages
	$(call install_missing,$(LONG_TEST_PACKAGES))

gui-test-packages: test-packages
	$(call install_missing,$(GUI_TEST_PACKAGES))

$(BUILD)/build.ninja: | build-packages
	meson setup $(BUILD) --prefix $(PREFIX) >/dev/null

build: build-packages $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

demo: build
	$(BUILD)/app/cli/mhar-probe --all data/demo/single data/demo/mhar -o demo.h5 --figure demo.pdf
	@echo "wrote demo.h5 and demo.pdf"

test: gui-test-packages build
	@/usr/bin/python3 tests/run.py $(BUILD)

# All there is to try, sanitizers over everything, threads, valgrind, the checkers: before a release.
test-long: long-test-packages build
	@/usr/bin/python3 tests/run.py $(BUILD) --long

# The window's tests alone: a display of their own, the real program, its accessibility tree.
test-gui: gui-test-packages build
	@meson test -C $(BUILD) --no-rebuild --suite gui --print-errorlogs

install: build
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

bench: gui-test-packages build
	@/usr/bin/python3 tests/bench/bench.py $(BUILD)

screenshots: gui-test-packages build
	@screenshots/make.sh $(BUILD)
	@screenshots/window.sh $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-lint
