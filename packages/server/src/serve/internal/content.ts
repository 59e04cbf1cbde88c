/** Texts and files in the messages of clients. */
import type { ContentPart, FilePart } from "@belay/core/Message"
import { invalid } from "./refusal.ts"

type Fields = { readonly [field: string]: unknown }

/** Returns the fields of an object. Any other value has none. */
export const fieldsOf = (value: unknown): Fields =>
  // An object has fields. An array is none of the objects that protocols use.
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {}

/** Returns a text field, or nothing if it is absent. Throws a `Refusal` if it is something else. */
export const textField = (fields: Fields, name: string, path = name): string | undefined => {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== "string") throw invalid(`${path}: expected a text`, path)
  return value
}

/** Returns a list field. Throws a `Refusal` if it is absent or something else. */
export const listField = (fields: Fields, name: string, path = name): ReadonlyArray<unknown> => {
  const value = fields[name]
  if (!Array.isArray(value)) throw invalid(`${path}: expected a list`, path)
  return value
}

/** Whether a message is an instruction to the model, in the protocols that have such messages. */
export const isInstruction = ({ role }: Fields): boolean => role === "system" || role === "developer"

/** Makes a file of a URL. Only `https:` and `data:` are allowed. */
export const fileOf = (url: string, mediaType: string | undefined, filename: string | undefined): FilePart => {
  const data = /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(url)
  if (data === null && !url.startsWith("https://")) throw invalid("the URL of a file must begin with https: or data:")
  const type = mediaType ?? data?.[1] ?? typeOfName(url)
  return { type: "file", mediaType: type, url, ...(filename === undefined ? {} : { filename }) }
}

const typeOfName = (url: string): string => {
  const ending = /\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? ""
  return types[ending] ?? "image/jpeg"
}

const types: { readonly [ending: string]: string } = {
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  mp3: "audio/mpeg",
  wav: "audio/wav"
}

/** Reads the content of a message of OpenAI: a text, or parts of chat completions or of Responses. */
export const partsOf = (content: unknown, path: string): ReadonlyArray<ContentPart> => {
  if (content === undefined || content === null) return []
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  if (!Array.isArray(content)) throw invalid(`${path}: expected a text or a list of parts`, path)
  return content.map((part, index) => partOf(fieldsOf(part), `${path}[${index}]`))
}

const partOf = (part: Fields, path: string): ContentPart => {
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text":
    case "refusal":
      return { type: "text", text: textField(part, "text", path) ?? textField(part, "refusal", path) ?? "" }
    case "image_url":
      return fileOf(textField(fieldsOf(part["image_url"]), "url", path) ?? "", undefined, undefined)
    case "input_image":
      return fileOf(textField(part, "image_url", path) ?? "", undefined, undefined)
    case "file":
      return dataFile(fieldsOf(part["file"]), path)
    case "input_file":
      return dataFile(part, path)
    case "input_audio": {
      const { data, format } = fieldsOf(part["input_audio"])
      return fileOf(`data:audio/${String(format)};base64,${String(data)}`, undefined, undefined)
    }
    default:
      throw invalid(`${path}: this kind of part is not supported`, path)
  }
}

const dataFile = (file: Fields, path: string): FilePart => {
  const url = textField(file, "file_data", path) ?? textField(file, "file_url", path)
  if (url === undefined) throw invalid(`${path}: the file needs file_data`, path)
  return fileOf(url, undefined, textField(file, "filename", path))
}

/** Returns the texts of parts as one text. */
export const textOf = (parts: ReadonlyArray<ContentPart>): string =>
  parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("")

/** Returns the files of parts. */
export const filesOf = (parts: ReadonlyArray<ContentPart>): ReadonlyArray<FilePart> =>
  parts.flatMap((part) => part.type === "file" ? [part] : [])
