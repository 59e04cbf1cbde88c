/**
 * Recognizes code in an argument that only computes, reads files which it names, and prints. Every name in it must be
 * known; all other code counts as code that may do anything.
 */
import { type CodeEffects, harmlessCode } from "./effects.ts"

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** The code that an interpreter gets in an argument; `undefined` when none is there. */
export const inlineCode = (
  name: string,
  args: ReadonlyArray<string>
): { readonly code: string; readonly flags: string } | undefined => {
  const flag = name === "php"
    ? /^-r$/
    : /^python|^pypy/.test(name)
    ? /^-[bBdEiIOPqsSuvx]*c$/
    : /^(?:node|nodejs|bun|deno)$/.test(name)
    ? /^(?:-e|-p|-pe|--eval|--print)$/
    : /^-[alnpswW0]*i?(?:\.\w+)?[alnpsw]*[eE]$/
  for (const [index, text] of args.entries()) {
    if (flag.test(text)) {
      const code = args[index + 1]
      const others = args.slice(0, index)
      const isPlain = others.every((one) =>
        /^-(?:[a-zA-Z0]*(?:\.\w+)?|M[\w:]+|F\S+)$/.test(one) && (!/^-\w*[rmMIxS]/.test(one) || /^-M[\w:]+$/.test(one))
      )
      return code === undefined || !isPlain ||
          args.slice(index + 2).some((one) => /^-(?:e|r|-require|-import|I|M)/.test(one))
        ? undefined
        : { code, flags: [...others, text].join(" ") }
    }
    if (!text.startsWith("-")) return undefined
  }
  return undefined
}

/** What code does; its `problem` says that it cannot be known. */
export const codeEffects = (name: string, code: string, flags: string): CodeEffects => {
  const problem = { problem: `${name} runs code that is not shell` }
  if (code.length > 2_000 || /\\[ux]|__|[^\x20-\x7e\n\t]/.test(code.replaceAll(/\b__(?:version|file|name)__\b/g, ""))) {
    return problem
  }
  const effects = /^python|^pypy/.test(name)
    ? pythonEffects(code)
    : /^(?:node|nodejs|bun)$/.test(name)
    ? nodeEffects(code)
    : name === "perl"
    ? perlEffects(code)
    : name === "ruby"
    ? wordEffects(code, rubyWords, /`|%[xqQwWiI]|#\{|\$[^_.<>\d]|&:?\w|<</)
    : name === "php"
    ? wordEffects(code, phpWords, /`|\$[^a-z]|\$\w+\s*\(|"[^"]*\$/)
    : undefined
  if (effects === undefined) return problem
  return /-\S*i/.test(flags) && /^(?:perl|ruby)$/.test(name) ? { ...effects, inPlace: true } : effects
}

const strings = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g

/** The names in code without its strings. */
const namesIn = (code: string): ReadonlyArray<RegExpExecArray> => [...code.matchAll(/(\.\s*)?\b([A-Za-z_]\w*)/g)]

const wordEffects = (code: string, words: ReadonlySet<string>, forbidden: RegExp): CodeEffects | undefined => {
  if (forbidden.test(code)) return undefined
  return namesIn(code.replaceAll(strings, "0")).every(([, , name]) => words.has(name!)) ? harmlessCode : undefined
}

const rubyWords = set(
  "puts p print pp RUBY_VERSION RUBY_PLATFORM RUBY_ENGINE Time now to_s to_i to_f upcase downcase reverse size " +
    "length strip split join map sum first last sort uniq if unless then end while gsub sub STDIN gets read " +
    "each_line chomp Math sqrt Integer Float round n x do each each_with_index times nil true false and or not _"
)
const phpWords = set(
  "echo print PHP_VERSION PHP_OS PHP_EOL phpversion phpinfo php_sapi_name json_encode json_decode var_dump " +
    "print_r date time strlen strtoupper strtolower md5 sha1 ini_get extension_loaded count implode explode true " +
    "false null round sqrt pi rand a b x i"
)

const pythonModules = set(
  "sys os json re math time datetime platform random string textwrap itertools collections statistics secrets " +
    "decimal fractions uuid hashlib base64 struct calendar locale sysconfig site zoneinfo"
)
const pythonNames = set(
  `print len range sum min max sorted reversed enumerate zip map filter list dict set tuple str int float bool repr
   round abs any all type isinstance chr ord hex bin oct format divmod pow input None True False and or not in is if
   else elif for while try except finally pass break continue return lambda assert del with as from import def
   Exception ValueError KeyError f r b rb`
)

/** Attributes through which Python code gets at other modules, code or files. */
const pythonAttributes = new RegExp(
  String.raw`^(?:os|sys|modules|builtins|subprocess|importlib|imp|io|posix|nt|shutil|system|popen\w*|` +
    String.raw`exec(?!utable$)\w*|spawn\w*|fork\w*|eval|compile|open\w*|fdopen|remove\w*|unlink|rmdir|rename\w*|` +
    String.raw`replace_file|mkdir|makedirs|mk\w+|chmod|chown|lchown|link|symlink|truncate|write\w*|putenv|kill\w*|` +
    "abort|startfile|settrace|setprofile|meta_path|path_hooks|path_importer_cache|path_hooks|excepthook|" +
    String.raw`displayhook|breakpointhook|gi_\w+|f_\w+|cr_\w+|func_\w+|tb_\w+|mro|codecs|inspect|ctypes|pty|socket|` +
    String.raw`urllib|dup\w*|pipe\w*|mount|chroot|setuid|setgid|run)$`
)

/** A file that Python opens to read it. */
const openedFile = new RegExp(
  String.raw`\bopen\(\s*(["'])([^"'\\]+)\1\s*(?:,\s*(["'])r?[bt]?\3\s*)?\)(?=\s*(?:\)|\.read\(\)|\.readlines\(\)|` +
    String.raw`as\b|$|;|\[))`,
  "g"
)

const pythonEffects = (code: string): CodeEffects | undefined => {
  const reads: Array<string> = []
  const opened = code.replaceAll(/\b[rRbBuU]{1,2}(?=["'])/g, "").replaceAll(
    openedFile,
    (_, _quote, file: string) => {
      reads.push(file)
      return "0"
    }
  )
  const plain = opened.replaceAll(/\b([fF])(["'])/g, "$2").replaceAll(
    strings,
    (text) => /\{[^}]*[(.]/.test(text) ? `(${text.slice(1, -1)})` : "0"
  )
  if (/["'`\\@]|\bimport\s*\(/.test(plain)) return undefined
  const modules: Array<string> = []
  for (
    const [, from, name, what] of plain.matchAll(
      /(?:\bfrom\s+([\w.]+)\s+)?\bimport\s+([\w., ]+?)(?:\s+as\s+(\w+))?(?=[;\n:]|$)/g
    )
  ) {
    if (what !== undefined) return undefined
    modules.push(...(from === undefined ? name!.split(",").map((one) => one.trim()) : [from]))
    if (from !== undefined && (!pythonModules.has(from) || from === "os" || from === "sys")) return undefined
  }
  const foreign = modules.filter((one) => !pythonModules.has(one))
  if (foreign.some((one) => !/^[a-z]\w*$/.test(one))) return undefined
  // Of other packages, code may only ask for the version and the place.
  const statements = plain.replaceAll(/(?:^|[;\n])\s*(?:from\s+[\w.]+\s+)?import\s+[\w., ]+?(?=[;\n]|$)/g, "")
  const isVersion = foreign.every((one) =>
    [...statements.matchAll(new RegExp(`\\b${one}\\b([.\\w]*)`, "g"))].every(([, rest]) =>
      /^(?:\.(?:__version__|__file__|__name__|version|VERSION|version_info|get_version))+$/.test(rest ?? "")
    )
  )
  if (!isVersion) return undefined
  const bound = new Set([
    ...modules,
    ...[
      ...plain.matchAll(
        /\b([a-z]\w*)\s*(?:=(?!=)|,(?=[^()]*\bin\b))|\b(?:for|as|lambda)\s+([a-z]\w*)|,\s*([a-z]\w*)\s+in\b/gi
      )
    ].map(([, a, b, c]) => a ?? b ?? c ?? ""),
    ...[...plain.matchAll(/\bfrom\s+\w+\s+import\s+([\w, ]+)/g)].flatMap(([, names]) =>
      names!.split(",").map((one) => one.trim())
    )
  ])
  const isSafe = namesIn(plain).every(([, dot, name]) =>
    dot === undefined
      ? pythonNames.has(name!) || foreign.includes(name!) || bound.has(name!) || pythonModules.has(name!)
      : !pythonAttributes.test(name!) && !dangerousModules.has(name!) ||
        /\bplatform\.system\b/.test(plain) && name === "system" && !/\bos\b/.test(plain)
  )
  return isSafe && ![...bound].some((name) => pythonAttributes.test(name) && !modules.includes(name))
    ? { reads }
    : undefined
}

const dangerousModules = set(
  "os subprocess shutil pathlib builtins importlib ctypes io pty socket asyncio multiprocessing threading code " +
    "codeop runpy pickle marshal tempfile glob fileinput zipfile tarfile http urllib requests httpx ftplib smtplib " +
    "sh plumbum invoke fabric pexpect send2trash antigravity webbrowser pip setuptools venv ensurepip cffi posix " +
    "nt codecs inspect gc types operator functools"
)

const nodeModules = set("fs node:fs path node:path os node:os url node:url util node:util crypto node:crypto")
const nodeNames = set(
  `console log error info table process version versions platform arch env argv cwd pid uptime memoryUsage hrtime
   features release require JSON parse stringify Object keys values entries assign fromEntries Array isArray from of
   Math Number String Boolean Date now toISOString parseInt parseFloat isNaN const let var if else for while return
   true false null undefined typeof new in of Set Map Buffer byteLength async await Intl RegExp fs path os url util
   crypto setTimeout setInterval clearTimeout Promise then catch finally URL URLSearchParams TextEncoder TextDecoder
   performance structuredClone Symbol BigInt Error readFileSync existsSync statSync readdirSync`
)
/** Names of properties through which JavaScript gets at code, processes or files. */
const nodeProperties = new RegExp(
  "^(?:constructor|prototype|eval|Function|bind|call|apply|mainModule|main|module|children|parent|" +
    String.raw`binding|dlopen|exec\w*|spawn\w*|fork\w*|kill|exit|abort|chdir|write\w*|rm\w*|unlink\w*|append\w*|` +
    String.raw`create\w*|open\w*|cp(?:Sync)?|copy\w*|rename\w*|truncate\w*|mk\w*|ch(?:mod|own)\w*|l(?:chmod|chown|` +
    String.raw`utimes)\w*|fchmod\w*|fchown\w*|link\w*|symlink\w*|utimes\w*|promises|getBuiltinModule|_\w*|` +
    String.raw`child_process|vm|net|http\w*|dns|cluster|worker\w*|inspector|emit\w*|on|once|setuid|setgid|import|` +
    String.raw`fetch|resolve|cache|extensions|load\w*|run\w*|compile|glob\w*)$`
)

const nodeEffects = (code: string): CodeEffects | undefined => {
  const reads: Array<string> = []
  const required: Array<string> = []
  const plain = code
    .replaceAll(/\breadFileSync\(\s*(["'])([^"'\\]+)\1(?=\s*[,)])/g, (_, _quote, file: string) => {
      reads.push(file)
      return "0(0"
    })
    .replaceAll(/\brequire\(\s*(["'])([^"'\\]+)\1\s*\)/g, (_, _quote, name: string) => {
      required.push(name)
      return "0"
    })
    .replaceAll(/\[\s*(["'])([\w./@-]*)\1\s*\]/g, (_, _quote, key: string) => `.${key.replaceAll(/\W/g, "_k")} `)
    .replaceAll(strings, "0")
  if (/["'\\`#@]|\bimport\b|\brequire\b/.test(plain) || /\breadFileSync\b/.test(plain)) return undefined
  // A computed property may be any of them.
  if (/[\w)\]]\s*\[(?!\s*-?\d+\s*\])/.test(plain)) return undefined
  for (const name of required) {
    if (/^\.{0,2}\/.*\.json$|^[@\w./-]+\/package\.json$/.test(name)) {
      if (name.startsWith(".") || name.startsWith("/")) reads.push(name)
    } else if (!nodeModules.has(name)) return undefined
  }
  const bound = new Set(
    [...plain.matchAll(/\b(?:const|let|var)\s+(\w+)|\b(\w+)\s*=>|[(,]\s*(\w+)(?=[\w\s,]*\)\s*=>)/g)].map((
      [, a, b, c]
    ) => a ?? b ?? c ?? "")
  )
  const isSafe = namesIn(plain).every(([, dot, name]) =>
    nodeNames.has(name!) || (dot === undefined ? bound.has(name!) : true) && !nodeProperties.test(name!)
  )
  return isSafe && ![...bound].some((name) => nodeProperties.test(name)) ? { reads } : undefined
}

const perlWords = set(
  "print say if unless and or not next last length lc uc ucfirst join split chomp my reverse sort keys scalar " +
    "eof while for foreach push sprintf printf int abs END BEGIN defined else elsif exit tr y s m g"
)

/** Substitutions and tests of lines. A replacement must not contain code, and a pattern no code block. */
const perlEffects = (code: string): CodeEffects | undefined => {
  if (/[`]|\$[{(]|@\{|\(\?\??\{|\bopen\b|<[^>=\s]*>|->|&\w|%\w*\{|\bqx|\*\w/.test(code.replaceAll("<STDIN>", ""))) {
    return undefined
  }
  const plain = code
    .replaceAll(
      /(?<![\w$@%])(?:s|tr|y)([/|#!,])((?:[^\\]|\\[\s\S])*?)\1((?:[^\\]|\\[\s\S])*?)\1([a-z]*)/g,
      (_, _d, _from, to: string, flags: string) =>
        flags.includes("e") ? ` ${to} ${flags.includes("ee") ? "unsafe" : ""} ` : " 0 "
    )
    .replaceAll(/(?<![\w$@%)\]])m?\/(?:[^/\\\n]|\\.)*\/[a-z]*/g, " 0 ")
    .replaceAll(strings, "0")
    .replaceAll(/[$@%#]+\w+/g, "0")
  return !/[/"'|\\]/.test(plain.replaceAll("||", "")) && namesIn(plain).every(([, , name]) => perlWords.has(name!))
    ? harmlessCode
    : undefined
}
