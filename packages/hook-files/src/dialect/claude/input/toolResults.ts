/** Converts results of tools to the format that scripts of Claude Code expect, and back. */
import type { Json, JsonObject } from "@belay/core/Json"
import { objectOf } from "../../../internal/fields.ts"

/** A result as scripts read it, and a function that converts a result of a script to what the model reads. */
export interface Response {
  readonly shown: Json
  readonly back: (output: Json) => Json
}

/** The format of a tool's result: how to build it from a text, and how to find the text in it. */
interface Shape {
  readonly show: (text: string, input: JsonObject) => JsonObject
  readonly text: (shown: JsonObject) => Json | undefined
}

const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line.trim() !== "")
const fieldOf = (input: JsonObject, key: string): Json => Object.hasOwn(input, key) ? input[key]! : ""
/**
 * The format of a tool that changes a file. The change is in the input of the tool, and `output` is the text of the
 * tool.
 */
const fileChange = (more: (input: JsonObject) => JsonObject): Shape => ({
  show: (output, input) => ({
    filePath: fieldOf(input, "file_path"),
    ...more(input),
    structuredPatch: [],
    success: true,
    output
  }),
  text: ({ output }) => output
})

const fileEdit = fileChange((input) => ({
  oldString: fieldOf(input, "old_string"),
  newString: fieldOf(input, "new_string"),
  replaceAll: fieldOf(input, "replace_all") === true,
  userModified: false
}))

const shapes: { readonly [tool: string]: Shape } = {
  Bash: {
    show: (stdout) => ({ stdout, stderr: "", interrupted: false, isImage: false }),
    text: ({ stderr, stdout }) =>
      typeof stdout === "string" && typeof stderr === "string" && stderr !== "" ? `${stdout}\n${stderr}` : stdout
  },
  Read: {
    show: (content, input) => {
      const lines = content.split("\n").length
      const from = fieldOf(input, "offset")
      const startLine = typeof from === "number" ? from : 1
      return {
        type: "text",
        file: {
          filePath: fieldOf(input, "file_path"),
          content,
          numLines: lines,
          startLine,
          totalLines: startLine + lines - 1
        }
      }
    },
    text: ({ file }) => objectOf(file)["content"]
  },
  Write: fileChange((input) => ({ content: fieldOf(input, "content") })),
  Edit: fileEdit,
  MultiEdit: fileChange((input) => ({ edits: Object.hasOwn(input, "edits") ? input["edits"]! : [] })),
  Glob: {
    show: (text) => ({ filenames: [...linesOf(text)], numFiles: linesOf(text).length, truncated: false }),
    text: ({ filenames }) => Array.isArray(filenames) ? filenames.join("\n") : undefined
  },
  Grep: {
    show: (content, input) => {
      const mode = fieldOf(input, "output_mode") || "content"
      const filenames = mode === "files_with_matches" ? [...linesOf(content)] : []
      return { mode, content, filenames, numFiles: filenames.length, numLines: linesOf(content).length }
    },
    text: ({ content }) => content
  },
  WebFetch: {
    show: (result, input) => ({
      url: fieldOf(input, "url"),
      code: 200,
      codeText: "OK",
      bytes: new TextEncoder().encode(result).length,
      result
    }),
    text: ({ result }) => result
  },
  WebSearch: {
    show: (text, input) => ({ query: fieldOf(input, "query"), results: [text] }),
    text: ({ results }) => textsOf(results)
  },
  Agent: {
    show: (text) => ({ content: [{ type: "text", text }] }),
    text: ({ content }) => textsOf(content)
  }
}

/** Joins a list of strings, or of content blocks with `text`. */
const textsOf = (list: Json | undefined): string | undefined => {
  if (!Array.isArray(list)) return undefined
  const texts = list.map((one: Json) => typeof one === "string" ? one : objectOf(one)["text"])
  return texts.every((one) => typeof one === "string") ? texts.join("\n") : undefined
}

/** Returns a result in the format that scripts expect for this tool. */
export const response = (name: string, input: JsonObject, output: Json): Response => {
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : name === "Task" ? shapes["Agent"] : undefined
  if (shape === undefined) return unchanged(output)
  if (typeof output === "string") {
    return {
      shown: shape.show(output, input),
      back: (one) => typeof one === "object" && one !== null ? shape.text(objectOf(one)) ?? one : one
    }
  }
  return name === "Bash" ? ofShell(objectOf(output), output) : unchanged(output)
}

const unchanged = (shown: Json): Response => ({ shown, back: (one) => one })

/** Converts the result of a shell tool that is an object. */
const ofShell = (fields: JsonObject, output: Json): Response => {
  const key = ["stdout", "output"].find((one) => typeof fields[one] === "string")
  if (key === undefined) return unchanged(output)
  return {
    shown: { stderr: "", interrupted: false, isImage: false, ...fields, stdout: fields[key]! },
    back: (one) => {
      const { isImage: _image, interrupted: _end, stdout, ...rest } = objectOf(one)
      if (stdout === undefined) return one
      const kept = Object.entries(rest).filter(([name]) => Object.hasOwn(fields, name))
      return { ...fields, ...Object.fromEntries(kept), [key]: stdout }
    }
  }
}
