/** The options of programs that name files, and what the programs do with their operands. */

/** What a program does with files. Options are written with their dashes, separated by spaces. */
export interface FileOptions {
  /** Options whose value is a file or a folder that is written. */
  readonly write?: string
  /** Options whose value is a file that is read. */
  readonly read?: string
  /** Options with a value that does not name a file. */
  readonly other?: string
  /** Options with two values: a name and a text. */
  readonly pairs?: string
  /**
   * What the operands are: read; written; not files; files of which only the names are read; the last one is written
   * and the others are read; the first one is written; all but the first are written.
   */
  readonly operands?: "read" | "write" | "none" | "names" | "last" | "first" | "rest"
}

const outputs =
  "-o --output --out --outFile --outfile --out-file --output-file --outdir --outDir --out-dir --output-dir " +
  "--output-path"

const compiler: FileOptions = { write: "-o -MF -MT --output --out-dir --emit -aux-info -dumpdir" }
const database: FileOptions = {
  write: "-o -L --output --log-file --tee",
  read: "-f --file --defaults-file --defaults-extra-file -i",
  operands: "none"
}
const container: FileOptions = {
  write: "-o --output --iidfile --cidfile --metadata-file --output-dir",
  read: "--env-file -f --file --from-file --from-env-file --values --secret --volume -v --mount -i --input " +
    "--kubeconfig --cert --key",
  operands: "none"
}
const converter: FileOptions = { operands: "last" }
const compressor: FileOptions = { write: "-o --output", operands: "write" }
const changer: FileOptions = { ...compressor, write: "-o --output -p --tmpdir --output-file" }
const viewer: FileOptions = { operands: "read" }
/** Programs that say something about the machine. */
const informing: FileOptions = { read: "-f --file -F --reference -r", write: "", operands: "none" }

const table: { readonly [programs: string]: FileOptions } = {
  "npm pnpm yarn bun npx": {
    write: "--pack-destination --outfile --outdir",
    read: "--userconfig --globalconfig",
    operands: "none"
  },
  "pip pip3 uv poetry pipenv conda": {
    write: "-d --dest -t --target --download --log -o --output-file",
    read: "-r -c",
    operands: "none"
  },
  "cargo go mvn gradle dotnet make gmake ninja cmake brew apt apt-get yum dnf apk": {
    write: "-o --out-dir --target-dir -coverprofile -cpuprofile -memprofile -trace --artifact-dir",
    read: "--manifest-path -f --file --makefile -C -modfile",
    operands: "none"
  },
  "kill pkill killall pgrep ps top lsof ping dig nslookup host traceroute ip ifconfig netstat ss systemctl": informing,
  "journalctl service date sleep seq nproc uname hostname whoami id groups who w uptime df free cal tput clear":
    informing,
  "reset arch which whereis type hash umask ulimit jobs bg fg wait shift read getopts let unset hostnamectl": informing,
  "timedatectl locale mysqladmin gh-auth": informing,
  "ls stat tree du basename dirname realpath readlink pwd locate": {
    write: "",
    read: "--files0-from",
    operands: "names"
  },
  "less more most zless bat batcat pr ptx tsort unexpand ul basenc diff3 sdiff colordiff wdiff delta": viewer,
  "bzcat xzcat lzcat zstdcat gcat ghead gtail pv highlight pygmentize glow mdcat jless gron xq csvlook": viewer,
  "uuencode enscript a2ps nroff groff troff": viewer,
  "gh glab hub": {
    read: "-F --body-file --notes-file -f --env-file --input",
    write: "-D --dir -O --output",
    operands: "none"
  },
  "docker podman nerdctl docker-compose kubectl oc helm": container,
  "terraform tofu terragrunt pulumi gcloud az kubectx": {
    read: "-var-file --var-file -f --file",
    write: "-out -state -state-out -backup --output-file",
    operands: "none"
  },
  "psql mysql mariadb pgcli": database,
  "pg_dump pg_dumpall mysqldump mongodump": {
    write: "-f -r -o --file --result-file --out --archive --tab",
    operands: "none"
  },
  "redis-cli mongosh bq": { read: "--file -f --cert --key --cacert", write: "--rdb", operands: "none" },
  "gcc g++ cc c++ clang clang++ ld as rustc tcc zig swiftc nasm": compiler,
  javac: { write: "-d -s -h", operands: "none" },
  sort: {
    write: "-o --output -T --temporary-directory",
    read: "--files0-from",
    other: "-k -t -S --key --field-separator"
  },
  "uniq xxd objcopy": { operands: "rest" },
  "strip dos2unix unix2dos sponge rename prename mktemp link fallocate logsave mkswap msgfmt": changer,
  "lz4 lzma pigz zstd bzip2 xz gzip": changer,
  "ffmpeg convert magick cwebp sox gs pdftotext wkhtmltopdf inkscape rsvg-convert mount": converter,
  "split csplit": { write: "-f --prefix", operands: "rest", read: "" },
  "openssl gpg gpg2 age": {
    write: "-out -keyout -o --output -writerand -CAserial -sigfile-out",
    read: "-in -inkey -key -CA -CAkey -config -d -e -c -y -i --identity -kfile -passin -certfile",
    operands: "read"
  },
  "keytool age-keygen ssh-keygen": {
    write: "-o -f -keystore -file -destkeystore --output",
    read: "-f -keystore",
    operands: "none"
  },
  "tcpdump tshark wireshark perf": { write: "-w -o --output", read: "-r -F -i", operands: "none" },
  "strace ltrace": { write: "-o --output", operands: "none" },
  time: { write: "-o --output", operands: "none" },
  script: { write: "--log-out --log-io --log-timing -O -B -T", operands: "write" },
  screen: { write: "-Logfile", operands: "none" },
  xargs: { read: "-a --arg-file", operands: "none" },
  parallel: { read: "-a --arg-file", write: "--joblog --results", operands: "read" },
  dotenv: { read: "-f -e --file --env", operands: "none" },
  "rg ag ack": {
    read: "-f --file --ignore-file",
    other: "-e -g -t -T -m -A -B -C -r -j --regexp --glob --type --iglob",
    operands: "read",
    write: ""
  },
  "grep egrep fgrep zgrep ggrep": {
    read: "-f --file --exclude-from",
    other: "-e -m -A -B -C -d -D --regexp --include --exclude --exclude-dir --max-count --label --color",
    operands: "read",
    write: ""
  },
  "socat nc ncat": { read: "", operands: "read" },
  "emacs nano vi vim nvim ex view ed red": { operands: "write" },
  "jq yq": {
    read: "-f --from-file --slurpfile --rawfile --argfile",
    pairs: "--arg --argjson",
    operands: "read",
    write: ""
  },
  "tsc esbuild vite rollup webpack swc babel parcel": {
    write: `${outputs} -d --dir --file --dist-dir --declarationDir --tsBuildInfoFile --metafile`,
    operands: "read"
  },
  "eslint oxlint biome ruff black": {
    write: "-o --output-file --cache-location",
    read: "-c --config",
    operands: "read"
  },
  soffice: { write: "--outdir", other: "--convert-to --infilter", operands: "read" },
  pandoc: { write: "-o --output --log --extract-media", operands: "read" },
  dot: { write: "-o", operands: "read" },
  iconv: { write: "-o --output", operands: "read" },
  aws: { write: "--outfile", read: "", operands: "none" },
  shuf: { write: "-o --output", read: "--random-source", operands: "read" },
  patch: { write: "-o --output -r --reject-file", read: "-i --input", operands: "write" },
  certbot: { write: "--config-dir --work-dir --logs-dir --cert-path --key-path", operands: "none" },
  "visudo crontab": { write: "-f", operands: "read" },
  "curl": {
    write: "-o -D -c --output --output-dir --dump-header --cookie-jar --trace --trace-ascii --stderr --etag-save " +
      "--hsts --libcurl --alt-svc",
    read: "-T --upload-file -K --config -E --cert --key --cacert --netrc-file -b --cookie --etag-compare " +
      "--proxy-cert --proxy-key",
    operands: "none"
  },
  "wget wget2": {
    write:
      "-O -o -a -P --output-document --output-file --append-output --directory-prefix --save-cookies --warc-file " +
      "--rejected-log --hsts-file",
    read:
      "-i --input-file --post-file --body-file --load-cookies --certificate --private-key --config --ca-certificate",
    operands: "none"
  },
  "aria2c axel": { write: "-o -d --out --dir --log -l", read: "-i --input-file", operands: "none" },
  rsync: {
    write: "--backup-dir --partial-dir --log-file --write-batch",
    read: "--exclude-from --include-from --files-from --password-file --read-batch",
    other: "--exclude --include -e --rsh --filter -f --chmod --port --bwlimit --max-size --min-size --link-dest " +
      "--compare-dest --timeout --out-format --info --rsync-path --chown --suffix -T -B"
  },
  "scp sftp": { write: "", read: "-i -F", other: "-P -o -l -c -J -S" },
  "cp gcp mv gmv ln gln": { write: "", other: "-S --suffix" },
  install: { write: "", other: "-m -o -g -S --mode --owner --group --suffix" },
  "cd pushd popd chdir": { write: "", operands: "none" },
  "tee gtee": { operands: "write", write: "" },
  "touch gtouch truncate": { operands: "write", read: "-r --reference" },
  "7z 7za 7zr 7zz": { write: "-o" }
}

const byProgram = new Map(
  Object.entries(table).flatMap(([names, options]) => names.split(" ").map((name) => [name, options] as const))
)

/** What a program does with files, if the table says so. */
export const fileOptionsOf = (name: string): FileOptions | undefined => byProgram.get(name)

/** Options of programs that are not in the table. */
export const usualOptions: FileOptions = { write: outputs }
