/** The laws of session stores. */
import type { Law } from "../law.ts"
import { agentLaws } from "./agents.ts"
import { commitLaws } from "./commits.ts"
import { contentLaws } from "./content.ts"
import { promiseFace, type Subject } from "./face.ts"
import { operationLaws } from "./operations.ts"

const laws = [...commitLaws, ...contentLaws, ...operationLaws, ...agentLaws]

/** Returns the laws for stores that `make` creates, except those that need an operation in `without`. */
export const sessionLaws = (make: () => Promise<Subject>, without: ReadonlySet<string>): ReadonlyArray<Law> =>
  laws.filter(({ needs }) => !needs.some((need) => without.has(need))).map(({ name, prove }) => ({
    name: `sessions: ${name}`,
    run: async () => {
      const subject = await make()
      try {
        await prove(promiseFace(subject.store), subject)
      } finally {
        await subject.dispose?.()
      }
    }
  }))
