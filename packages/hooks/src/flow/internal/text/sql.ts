/** Whether an SQL statement only reads. */
import { wordSet } from "./names.ts"

/** Functions that compute, and touch nothing else. */
const pure = wordSet(
  `count sum avg min max abs round floor ceil ceiling lower upper length trim ltrim rtrim substr substring concat
   coalesce nullif ifnull cast date time datetime strftime date_trunc date_part extract year month day now
   current_date julianday distinct row_number rank dense_rank lag lead over in values exists any all and or not as
   from on using where having select json_extract json_object json_array group_concat string_agg array_agg total
   printf replace instr`
)

/**
 * Whether a text is one `SELECT` that changes nothing: one statement, without `INTO`, without locks, and only with
 * functions that compute. What is not known may do anything.
 */
export const onlyReads = (text: string): boolean => {
  // Comments and quoted names could hide the end of a statement.
  if (text.length > 10_000 || /--|\/\*|#|\\|\$|`|::/.test(text)) return false
  const bare = text.replace(/'[^']*'/g, "''").replace(/"[\w ]*"/g, "x").trim().replace(/;$/, "").toLowerCase()
  return /^select\s/.test(bare) && !/[;'"]/.test(bare.replaceAll("''", "")) &&
    !/\b(?:into|for\s+(?:update|share|no)|call|exec|execute|outfile|dumpfile|procedure)\b/.test(bare) &&
    [...bare.matchAll(/([\w.]+)\s*\(/g)].every(([, name = ""]) => pure.has(name))
}
