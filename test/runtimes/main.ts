/** Runs the suite as a program: the address of the endpoint is its argument, and it prints the outcomes as JSON. */
import { suite } from "./suite.ts"

console.log(JSON.stringify(await suite(process.argv[2] ?? "")))
