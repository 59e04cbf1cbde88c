// Two rules of the house that oxlint does not bring: no `try` and no `throw` where an Effect carries the failure.
const forbid = (type, message) => ({ create: (context) => ({ [type]: (node) => context.report({ node, message }) }) })

export default {
  meta: { name: "belay" },
  rules: {
    "no-throw": forbid("ThrowStatement", "fail with an Effect instead of throwing"),
    "no-try": forbid("TryStatement", "use Effect.try, Effect.catch or Effect.ensuring instead of try")
  }
}
