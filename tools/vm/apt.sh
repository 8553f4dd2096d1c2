# SPDX-License-Identifier: BSD-2-Clause
# An apt of our own for fetch.sh and build-root.sh: this machine's servers and keys, but lists, cache and package status
# in a folder of the cache, so that nothing is installed and no file of the machine's apt is touched. Works as an ordinary
# user. For scripts that have sourced common.sh.
# shellcheck shell=bash

# machine_source: "SERVER FILE" of the source this machine has its own release from
machine_source() {
	local release
	release=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(SITE) $(SOURCESENTRY)' \
		'Created-By: Packages' 2>/dev/null |
		awk -v release="$release" '($1 == release || $1 == "stable") && $2 == "main" {
			sub(/:[0-9]+$/, "", $4); print $3, $4; exit }'
}

# key_of FILE: the keyring its sources name, in either of apt's two formats; nothing when they name none
key_of() {
	sed -nE -e 's/^Signed-By:[[:space:]]*(\/[^[:space:]]+).*/\1/p' \
		-e 's/^deb .*\[.*signed-by=(\/[^] ]+).*/\1/p' "$1" | head -n 1
}

# write_sources DIR SUITE...: the machine's server, asked for other suites than the machine's own
write_sources() {
	local dir=$1 server file key
	shift
	read -r server file < <(machine_source) ||
		die 3 "this machine's apt sources name no Debian server with its own release (looked for main); kernels come from there"
	key=$(key_of "$file")
	mkdir -p "$dir"
	{
		printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$server" "$*"
		[[ -z $key ]] || printf 'Signed-By: %s\n' "$key"
	} >"$dir/debian.sources"
}

# apt_conf DIR SUITE...: without a suite, the machine's sources as they are
apt_conf() {
	local apt=$1
	shift
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	cat >"$apt/apt.conf" <<-EOT
		Dir::State::Lists "$apt/lists";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Post-Invoke;
		#clear Acquire::IndexTargets::deb::DEP-11;
		#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
		#clear Acquire::IndexTargets::deb::DEP-11-icons;
		#clear Acquire::IndexTargets::deb::DEP-11-icons-large;
		#clear Acquire::IndexTargets::deb::Contents-deb;
	EOT
	(($#)) || return 0
	write_sources "$apt/sources" "$@"
	cat >>"$apt/apt.conf" <<-EOT
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$apt/sources";
	EOT
}

# apt_update DIR: one broken third-party source must not stop us; what counts is whether a package is found. The
# messages are in DIR/update.log.
apt_update() {
	apt-get -c "$1/apt.conf" -q update >"$1/update.log" 2>&1 || true
}

# apt_unpack DEBS TREE. Not "dpkg-deb -x": it would replace a merged-/usr symbolic link by a folder.
apt_unpack() {
	local debs=$1 tree=$2 deb
	mkdir -p "$tree"
	for deb in "$debs"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tree" --no-same-owner --keep-directory-symlink ||
			die 3 "could not unpack ${deb##*/} in $tree (disk full?)"
	done
}

# check_space DIR MIB
check_space() {
	local free
	free=$(df --output=avail -m "$1" | tail -n 1 | tr -d " ")
	((free >= $2)) || die 3 "$1 has $free MiB free, $2 are needed: make room or set HCWATCH_CACHE"
}
