/** Programs by their names, and what they do. */

const set = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/))

/** Shells: they run a script from an argument, a file or their input. */
export const shells = set("sh bash zsh dash ksh mksh ash fish csh tcsh rbash yash pwsh powershell cmd")

/** Interpreters of other languages. */
export const interpreters = set(
  `python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit osascript tclsh wish Rscript
   rscript r
   ghci racket guile julia groovy scala jshell erl elixir irb ipython gdb lldb expect`
)

/** Wrappers: they run another command, which is among their arguments. */
export const wrappers = set(
  `sudo doas env nohup timeout setsid nice ionice stdbuf time command builtin exec xargs parallel watch flock chroot
   unshare nsenter strace ltrace busybox toybox script su runuser ssh systemd-run taskset chrt caffeinate proot
   fakeroot firejail bwrap unbuffer noglob nocorrect npx bunx pnpx uvx pipx gtimeout gxargs gnice gstdbuf genv
   dbus-run-session xvfb-run rlwrap numactl setarch linux32 linux64 setpriv capsh sem entr on_ac_power at batch
   crontab screen tmux start-stop-daemon daemonize pkexec gosu run0 sshpass wsl scl catchsegv valgrind perf
   hyperfine trickle torsocks torify proxychains proxychains4 faketime nohup.exe dotenv direnv chpst softlimit
   run-parts`
)

/** Programs that never run one of their arguments as a command. */
export const inert = set(
  `echo printf cat ls dir tac rev nl head tail wc cut sort uniq tr paste join comm diff cmp grep egrep fgrep zgrep
   rg ag ack file stat pwd cd pushd popd mkdir rmdir touch rm cp mv ln chmod chown chgrp chattr truncate shred
   unlink install mktemp mkfifo mknod dd tee test [ [[ true false : seq sleep date cal uname hostname whoami id
   groups who w uptime df du free ps top kill pkill killall pgrep which whereis type hash readlink realpath basename
   dirname tree fd fdfind locate md5sum sha1sum sha256sum sha512sum cksum base64 base32 xxd od hexdump strings gzip
   gunzip zcat bzip2 xz zip unzip jq yq curl wget ping dig nslookup host traceroute ip ifconfig netstat ss lsof
   export unset set shopt declare local readonly typeset let read return exit break continue shift wait jobs bg fg
   umask ulimit git gh hub npm pnpm yarn tsc eslint prettier jest vitest mocha playwright cypress webpack vite
   rollup esbuild cargo rustc go gofmt pip pip3 poetry pytest mypy ruff black javac mvn gradle cmake gcc g++ clang
   docker podman kubectl helm terraform aws gcloud az brew apt apt-get dpkg yum dnf apk systemctl journalctl service
   psql mysql sqlite3 redis-cli mongosh for select case let nproc arch tput clear reset fold fmt expand column look
   yes factor mkfs fdisk parted mount umount sync shutdown reboot halt poweroff useradd userdel passwd usermod sed
   awk gawk mawk nawk find scp rsync`
)

/** Programs that only print or store their arguments, so that none of these is a path. */
export const speakers = set(
  "echo printf true false : export unset set declare local readonly typeset let for select case test [ [[ exit return"
)

/** Programs that change the files that their operands name. */
export const writers = set(
  `rm rmdir unlink shred truncate touch mkdir chmod chown chgrp chattr setfacl tee mkfifo mknod cp mv install ln
   rsync scp dd sed gsed perl patch ed ex vi vim nvim emacs nano split csplit gzip gunzip bzip2 bunzip2 xz unxz zip
   unzip tar cpio git trash srm gtee gcp gmv grm gln gtouch prettier eslint`
)

/** Programs that copy: they write to the last operand (or the target directory) only, and read the others. */
export const copiers = set("cp install scp rsync ln gcp gln")

/** Programs that use the network. */
export const network = set(
  `curl wget ssh scp sftp ftp rsync nc ncat netcat telnet ping dig nslookup host traceroute http https xh aria2c socat
   lynx w3m openssl`
)

/** Folders of the operating system's programs: a name there is the program of that name. */
export const isSystemFolder = (folder: string): boolean =>
  /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin$/.test(folder)
