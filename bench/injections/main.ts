/**
 * Prints what `PromptInjection` finds at its default settings, in phrasings of injections and in harmless texts:
 * `npm run bench:injections`.
 */
import { figures, tableOf } from "./figures.ts"

console.log(tableOf(await figures()))
