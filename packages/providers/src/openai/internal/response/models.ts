/** Reads a list of models. */
import { countOf, isObject, type Loose, textOf } from "../request/guards.ts"

interface Listed {
  readonly id: string
  readonly name?: string
  readonly ownedBy?: string
  readonly contextWindow?: number
}

/** Reads `{ data: [...] }`, a bare list (Together), or `{ models: [...] }`. */
export const readModels = (answer: unknown): ReadonlyArray<Listed> => {
  const list = isObject(answer) ? answer.data ?? answer.models : answer
  return (Array.isArray(list) ? list : []).flatMap((one) => isObject(one) ? read(one) : [])
}

const read = (model: Loose): ReadonlyArray<Listed> => {
  // Google writes `models/` before the name.
  const id = (textOf(model.id) ?? textOf(model.name))?.replace(/^models\//, "")
  if (id === undefined) return []
  const name = textOf(model.display_name) ?? textOf(model.name)
  const ownedBy = textOf(model.owned_by)
  const meta = isObject(model.meta) ? model.meta : {}
  const contextWindow = windowNames.map((field) => countOf(model[field])).find((size) => size !== undefined) ??
    countOf(meta.n_ctx) ?? countOf(meta.n_ctx_train)
  return [{
    id,
    ...(name === undefined || name === id ? {} : { name }),
    ...(ownedBy === undefined ? {} : { ownedBy }),
    ...(contextWindow === undefined ? {} : { contextWindow })
  }]
}

const windowNames = ["context_length", "context_window", "max_context_length", "max_model_len", "inputTokenLimit"]
