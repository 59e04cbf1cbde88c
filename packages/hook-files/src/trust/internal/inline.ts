/** Finds the files of a project that inline code runs: files that it names, and modules that it imports. */
import * as Kinds from "./kinds.ts"
import type { Named } from "./kinds.ts"

export type Language = "python" | "javascript" | "php" | "other"

export const languageOf = (name: string): Language =>
  /^(?:python|pypy|ipython)/.test(name)
    ? "python"
    : /^(?:node|nodejs|bun|deno|tsx|ts-node)/.test(name)
    ? "javascript"
    : name.startsWith("php")
    ? "php"
    : "other"

/** The code in an option; `""` if the code is the next word; undefined if the option has no code. */
export const codeOf = (language: Language, option: string): string | undefined => codes[language].exec(option)?.[1]

const codes: { readonly [L in Language]: RegExp } = {
  python: /^-[bBdEiIOqsSuvx]*c([\s\S]*)$/,
  javascript: /^(?:-e|-p|-pe|eval|--eval|--print)(?:=|$)([\s\S]*)$/,
  php: /^-[rBRE]([\s\S]*)$/,
  other: /^(?:-\w*[eE]|--eval|--execute)(?:=|$)([\s\S]*)$/
}

/** Where Python finds a module, relative to the folder in which it runs. */
export const modules = (name: string): ReadonlyArray<string> => {
  const parts = name.split(".").filter((part) => /^\w+$/.test(part)).slice(0, 16)
  return parts.flatMap((_, index) => {
    const path = parts.slice(0, index + 1).join("/")
    return [`${path}.py`, `${path}/__init__.py`, ...(index === parts.length - 1 ? [`${path}/__main__.py`] : [])]
  })
}

export const named = (code: string, language: Language): ReadonlyArray<Named> => {
  const words = [...new Set(code.split(/["'`\s(),;=[\]{}<>|&]+/))]
  const imports = language !== "python" ? [] : [...code.matchAll(/\b(?:import|from)\s+([\w.]+(?:\s*,\s*[\w.]+)*)/g)]
  const folders = searches.test(code) ? new Set(code.match(/[\w./@-]{1,200}/g)) : []
  return [
    ...[...folders].map((path): Named => ({ path, as: "folder" })),
    ...words.flatMap((path): ReadonlyArray<Named> => {
      if (Kinds.isScript(path)) return [{ path, as: "script" }]
      if (Kinds.isData(path)) return [{ path, as: runs.test(code) ? "file" : "operand" }]
      if (!path.includes("/")) return []
      const names = language === "javascript"
        ? [".js", ".cjs", ".mjs", ".ts"].map((ending): Named => ({ path: `${path}${ending}`, as: "script" }))
        : []
      return [{ path, as: runs.test(code) ? "script" : "operand" }, ...names]
    }),
    ...imports.flatMap(([, list]) => list!.split(",").flatMap((one) => modules(one.trim()))).map((path): Named => ({
      path,
      as: "script"
    }))
  ]
}

/** It runs the code that it reads. */
const runs = new RegExp(
  String.raw`\b(?:exec\w*|eval|(?<!\bre\.)compile|system|popen|spawn\w*|Function|load_source|dofile|do|include|` +
    String.raw`require_once)\s*\(|\b(?:subprocess|child_process|runpy|qx)\b|\bvm\.`
)

/** It changes where modules are searched. */
const searches = /sys\.path|import_module|addsitedir|LOAD_PATH|\$:|use lib|module\.paths|createRequire|require\.resolve/
