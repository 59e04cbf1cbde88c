/** Defines where Codex stores hooks: in `hooks.json` and `config.toml` of the user and of the project. */
import * as Result from "effect/Result"
import { dirname, join } from "node:path"
import { parse as parseToml } from "smol-toml"
import { isFields, record } from "../../internal/fields.ts"
import { real } from "../../internal/files.ts"
import * as ClaudeCode from "../claude/ClaudeCode.ts"
import * as HookConfig from "../claude/config/HookConfig.ts"
import { called, picked, type Place, type Scope, type SourceFile, type System, trusting } from "../shared/system.ts"
import * as Codex from "./Codex.ts"
import { codex as guide } from "./guide.ts"

const below = (root: string, scope: Scope): ReadonlyArray<Place> => [
  { scope, path: join(root, ".codex", "hooks.json") },
  { scope, path: join(root, ".codex", "config.toml"), format: "toml" }
]

const decode = (
  { format, ofProject, path, text }: SourceFile,
  { cwd }: { readonly cwd: string }
): HookConfig.HookConfig => {
  const options = { folder: ofProject ? cwd : dirname(path), flavor: "codex" as const }
  if (format !== "toml") return HookConfig.decode(text, path, options)
  const value = Result.try((): unknown => parseToml(text))
  if (Result.isSuccess(value)) {
    return HookConfig.fromValue(isFields(value.success) ? { hooks: value.success["hooks"] } : {}, path, options)
  }
  const reason = value.failure instanceof Error ? value.failure.message.split("\n", 1)[0]! : String(value.failure)
  return {
    handlers: [],
    warnings: [{ file: path, key: "", reason: `is not TOML: ${reason}` }],
    disableAllHooks: false,
    allowManagedHooksOnly: false
  }
}

export const codex: System = {
  dialect: "codex",
  guide,
  folders: [".codex/hooks"],
  places: ({ cwd, home }) => [...below(home, "user"), ...(real(home) === real(cwd) ? [] : below(cwd, "project"))],
  decode,
  about: ({ format, text }) =>
    picked(
      format === "toml" ? Result.getOrUndefined(Result.try((): unknown => parseToml(text))) : record(text),
      "hooks",
      "disableAllHooks"
    ),
  hooks: (sources, making) => {
    const handlers = trusting<HookConfig.Handler>(sources)
    return handlers.length === 0 ? [] : [Codex.make({ ...called("codex", making, ClaudeCode.optionKinds), handlers })]
  }
}
