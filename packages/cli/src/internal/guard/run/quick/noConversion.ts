/** Takes the place of the conversions of schemas, which are large. `withTools` refuses a schema that would need them. */

const refuse = (): never => {
  throw new Error("put a JSON Schema into inputSchema")
}

export const documentOf = refuse
export const schemaOf = refuse
