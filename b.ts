import { serve } from "./bench/serve.ts"
console.log(await serve())
