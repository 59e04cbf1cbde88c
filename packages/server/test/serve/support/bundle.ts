/** Pages that are bundled for a browser. */
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

/** Bundles a module of this folder as one script. */
export const bundle = async (name: string): Promise<string> => {
  const input = fileURLToPath(new URL(name, import.meta.url))
  const built = await rolldown({
    input,
    logLevel: "silent",
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": "\"production\"" } }
  })
  const { output } = await built.generate({ format: "esm", minify: false })
  return output[0].code
}
