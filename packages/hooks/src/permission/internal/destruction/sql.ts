/** Finds SQL statements that delete tables or rows. */
import type { Command, Decomposed } from "../shell/decompose.ts"

/** Things that a statement may drop. */
const dropped = "table|database|schema|view|materialized\\s+view|index|user|role|keyspace|collection|" +
  "function|procedure|trigger|sequence|type|extension|tablespace|column|constraint|partition|owned|foreign\\s+table|" +
  "policy|server|publication|subscription|login|dictionary|stage|warehouse"

const name = "[\\w.\"`\\[\\]-]{1,128}"

/** A condition that every row meets. */
const always = `(?:true|1|not\\s+false|'?(\\w+)'?\\s*(?:=|<=|>=|like)\\s*'?\\1'?|` +
  `1\\s*(?:<|!=|<>)\\s*\\d+|\\w+\\s+is\\s+not\\s+null|\\w+\\s*(?:>=?|!=|<>)\\s*(?:-?[01]|''))`

/** Matches an SQL statement that deletes tables or all rows of one. */
const destructiveSql = new RegExp(
  `\\b(?:drop\\s{1,64}(?:${dropped})\\b|truncate\\s{1,64}(?:table\\s|\\w)` +
    `|delete\\s{1,64}from\\s{1,64}(?:only\\s+)?${name}\\s{0,64}(?:(?:as\\s+)?\\w{1,32}\\s{0,64})?` +
    `(?:;|$|["')]|\\breturning\\b|\\bwhere\\s+\\(?\\s*${always}\\s*\\)?\\s*(?:;|$|["']|or\\b)))`,
  "i"
)

/** The first destructive statement in a text; comments count as spaces. */
export const destructiveStatement = (text: string): string | undefined =>
  destructiveSql.exec(text.replaceAll(/\/\*[\s\S]{0,512}?\*\/|--[^\n'"]*$/gm, " ").replaceAll(/\s+/g, " "))?.[0].trim()

const sqlClients = new RegExp(
  "^(?:psql|mysql|mariadb|sqlite3?|sqlcmd|sqlplus|duckdb|clickhouse(?:-client)?|cqlsh|usql|bq|snow|snowsql|" +
    "pgcli|mycli|litecli|mssql-cli|trino|presto|hive|beeline|spark-sql|impala-shell|athena|cockroach|" +
    "isql|osql|db2|wrangler|turso|rails|dbt|influx)$"
)

/** The destructive SQL that a line gives to a client, in arguments, here-documents and pipes. */
export const destructiveSqlIn = ({ commands }: Decomposed, text: string): string | undefined => {
  const clients = commands.filter(({ name: program }) => sqlClients.test(program))
  if (clients.length === 0) return undefined
  const texts = clients.flatMap(({ inputs = [], words }) => [...words, ...inputs].map((word) => word.text))
  for (const one of [text, ...texts]) {
    const statement = destructiveStatement(one)
    if (statement !== undefined) return statement
  }
  return undefined
}

/** The files with statements that the clients of a line run. */
export const sqlFilesOf = ({ commands }: Decomposed): ReadonlyArray<string> =>
  commands.flatMap((command) => sqlClients.test(command.name) ? filesOfClient(command) : [])

const fileOption = /^(?:-\w*f|--file|--queries-file|--init-file|-i|-\.read)$/

const filesOfClient = ({ name: program, pipe = [], redirects, words }: Command): ReadonlyArray<string> => {
  const texts = words.slice(1).map(({ text }) => text)
  const isCat = /^(?:cat|bat)$/.test(pipe[0]?.text ?? "")
  return [
    ...redirects.flatMap(({ op, target }) => op === "<" ? [target.text] : []),
    ...(isCat ? pipe.slice(1).map(({ text }) => text).filter((text) => !text.startsWith("-")) : []),
    ...texts.flatMap((text, index) => {
      const [, value] =
        /^(?:--file=|--queries-file=|-f(?=[\w./])|\\i\s+|\.read\s+|source\s+|\\\.\s+|@)(\S+)$/.exec(text) ?? []
      const isValue = fileOption.test(texts[index - 1] ?? "") && !/^(?:bq|wrangler|turso|dbt)$/.test(program) &&
        !(program === "sqlite3" || program === "duckdb")
      return value !== undefined ? [value] : isValue ? [text] : []
    })
  ]
}
