/** The files that clients of databases, servers and containers send and fetch. */
import type { AddFiles } from "./fileUse.ts"
import { endOf, fileBelow, wordOf } from "./optionValues.ts"

/** Commands of SQL shells that read and write files. */
export const sqliteFiles: AddFiles = ({ add, args, inputs }) => {
  const [file] = args.filter(({ text }) => !text.startsWith("-"))
  if (file !== undefined) add(file, "read")
  for (const { text } of [...args, ...inputs]) {
    if (file !== undefined && text !== file.text && changesRows.test(text)) add(file, "write")
    for (const [, verb, path] of text.matchAll(/(?:^|\n)\s*\.(\w+)\s+(?:main\s+)?['"]?([^\s'"]+)/g)) {
      if (/^(?:out\w*|once|backup|save|log|clone|dump|excel)$/.test(verb!)) add(wordOf(path!), "write")
      if (/^(?:import|read|restore|open|load)$/.test(verb!)) add(wordOf(path!), "read")
    }
    for (const [, path] of text.matchAll(/\b(?:readfile|attach(?:\s+database)?|read_\w+|from)\s*\(?\s*'([^']+)'/gi)) {
      add(wordOf(path!), "read")
    }
    for (const [, path] of text.matchAll(/\b(?:writefile|vacuum\s+into|outfile|to)\s*\(?\s*'([^']+)'/gi)) {
      add(wordOf(path!), "write")
    }
  }
  return true
}

const changesRows = /\b(?:create|insert|update|delete|drop|alter|replace|vacuum|reindex)\b/i

export const psqlFiles: AddFiles = ({ add, args, inputs }) => {
  for (const { text } of [...args, ...inputs]) {
    for (const [, path] of text.matchAll(/\b(?:from|infile)\s+'([^']+)'|\\i\s+(\S+)/gi)) {
      if (path !== undefined) add(wordOf(path), "read")
    }
    for (const [, path] of text.matchAll(/\b(?:to|outfile)\s+'([^']+)'/gi)) add(wordOf(path!), "write")
    for (const [, verb, path] of text.matchAll(/\\copy\b[^\n]*?\b(to|from)\s+([^\s']+)/gi)) {
      if (!/^(?:p?std(?:in|out)|program)$/i.test(path!)) add(wordOf(path!), /to/i.test(verb!) ? "write" : "read")
    }
    for (const [, path] of text.matchAll(/(?:\\(?:i|ir|include|\.)|(?:^|[\n;])\s*source)\s+([^\s;]+)/g)) {
      add(wordOf(path!), "read")
    }
    for (const [, path] of text.matchAll(/\\(?:o|out|g|w|s)\s+(\S+)/g)) add(wordOf(path!), "write")
  }
  return true
}

/** curl: the files that it sends, as `@file`, and those that it names like the address. */
export const downloadedFiles: AddFiles = ({ add, args, operands, texts }, name) => {
  args.forEach((word, index) => {
    const { text } = word
    const flag = texts[index - 1] ?? ""
    if (/^file:/i.test(text)) add({ ...word, text: text.replace(/^file:\/\/(?:localhost)?/i, "") }, "read")
    const isData =
      /^(?:-\w*[dFH]|--data[\w-]*|--dat|--json|--form|--header|--url-query|--var[a-z]*|--proxy-header)$/.test(flag) ||
      /^--(?:data[\w-]*|json|form|header|variable)=|^-[dFH]./.test(text)
    const [, value] = /(?:^|=|^-[dFH])[^@]*?[@<]([^;,]+)/.exec(text) ?? []
    if (isData && value !== undefined && !/^https?:/.test(text)) {
      add(endOf(word, text.slice(text.indexOf(value))), "read")
    }
    if (isData && value !== undefined) add(wordOf(value), word.dynamic ? "maybe" : "read")
  })
  const isNamed = name.startsWith("wget")
    ? !texts.some((text) => /^-\w*O|^--output-d|^--spider/.test(text))
    : texts.some((text) => /^-\w*[OJ]|^--remote-n/.test(text))
  const folder = args[texts.findIndex((text) => /^(?:--output-dir|-\w*P|--directory-prefix)$/.test(text)) + 1]
  const hasFolder = texts.some((text) => /^(?:--output-dir|-\w*P|--directory-prefix)$/.test(text))
  for (const { dynamic, text } of isNamed ? operands : []) {
    const [, file] = /^(?:\w+:\/\/)?[^/]+\/(?:.*\/)?([^/?#]+)/.exec(text) ?? []
    if (file !== undefined && !dynamic) {
      add(wordOf(hasFolder && folder !== undefined ? `${folder.text}/${file}` : file), "write")
    }
  }
  return true
}

/** Clients of object stores: `cp`, `mv`, `sync` and their relatives copy like `cp`. */
export const storedFiles: AddFiles = (args, name) => {
  const { add, addAll, operands, texts } = args
  const at = operands.findIndex(({ text }) =>
    /^(?:cp|mv|sync|copy|copyto|move|moveto|rsync|get|put|mirror|upload|download)$/.test(text)
  )
  if (at < 0) return true
  const [target, ...sources] = operands.slice(at + 1).reverse()
  const isRemote = (text: string) => /^[\w-]+:(?!\\)|^pod|^\w+\//.test(text) && name !== "docker"
  const recursive = texts.some((text) => /^-\w*[rR]$|^--rec/.test(text)) ||
    /^(?:sync|copy|move|mirror|rsync)$/.test(operands[at]!.text)
  addAll(sources, "read", recursive)
  for (const source of sources) {
    if (target !== undefined) add(fileBelow(target, source), "write", false, target)
    if (/^(?:mv|move)/.test(operands[at]!.text) && !isRemote(source.text)) add(source, "write", true)
  }
  if (target !== undefined) add(target, sources.length === 0 ? "read" : "write")
  return true
}

/** Containers: files that are copied or mounted. */
export const containerFiles: AddFiles = (args, name) => {
  const { add, operands, texts } = args
  if (operands[0]?.text === "cp" || operands[1]?.text === "cp") {
    const [source, target] = operands.slice(operands.findIndex(({ text }) => text === "cp") + 1)
    if (source !== undefined && !/:/.test(source.text)) add(source, "read", true)
    if (target !== undefined && !/:/.test(target.text)) add(target, "write")
    if (target !== undefined && source !== undefined && !/:/.test(target.text)) {
      add(fileBelow(target, source), "write", false, target)
    }
  }
  args.args.forEach((word, index) => {
    const isMount = /^(?:-\w*v|--volume|--mount)$/.test(texts[index - 1] ?? "") ||
      /^--(?:volume|mount)=/.test(word.text)
    const [, host] = /^(?:--volume=|--mount=)?(?:type=bind,|.*?(?:source|src)=)?([^:,]+)/.exec(word.text) ?? []
    if (isMount && host !== undefined && /[/.~]/.test(host)) {
      const mounted = wordOf(host)
      if (!word.dynamic) {
        add(mounted, "read")
        if (name !== "kubectl") add(mounted, "write")
      }
    }
    const [, secret] = /(?:^|,)(?:src|source|file)=([^,]+)/.exec(word.text) ?? []
    if (secret !== undefined) add(wordOf(secret), "read")
    const [, from] = /^--from-(?:env-)?file=(?:[\w.-]+=)?(.+)$/.exec(word.text) ?? []
    if (from !== undefined) add(wordOf(from), "read")
  })
  return true
}

/** `FILE:` and `OPEN:` addresses. */
export const socatFiles: AddFiles = ({ add, args, texts }) => {
  for (const word of args) {
    const [, kind, path] = /^(file|open|create|gopen|rename|pipe|exec|system):([^,]+)/i.exec(word.text) ?? []
    if (path === undefined || /^(?:exec|system)$/i.test(kind!)) continue
    add(endOf(word, word.text.slice(word.text.indexOf(":") + 1)), "read")
    add(wordOf(path), "read")
    if (!texts.includes("-u") || word !== args.find(({ text }) => /:/.test(text))) add(wordOf(path), "write")
  }
  return true
}
