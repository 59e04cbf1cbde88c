/** Says of the sentences around an injection whether they belong to it. */

const verbs =
  "send|forward|transfer|wire|delete|remove|upload|post|publish|buy|pay|share|invite|grant|open|visit|approve|" +
  "reset|run|execute|install|book|cancel|change|rename|push|include|copy|download|write|call|use|create|make|" +
  "mail|email|click|reply|say|tell|give|put|set|update|add|fetch|go|enter|confirm|accept|encode|collect|find|" +
  "read|start|stop|do"
const order = new RegExp(
  `^\\W{0,10}(?:(?:please|then|now|first|next|also|finally|and|step \\d+:?|\\d+[.)]) ){0,3},? ?(?:${verbs})\\b`,
  "iu"
)
const plainStart = new RegExp(
  String.raw`^\W{0,10}(?:the|it|we|our|this|that|these|those|there|he|she|they|its|an?|in|on|at|most|some|many|` +
    String.raw`all|for|with|as)\b`,
  "iu"
)
const wanted = new RegExp(
  String.raw`https?:|@|\byou(?:r|rs)?\b|\b(?:must|should|please|need|needs|has to|have to|assistant|tool|task|` +
    String.raw`user)\b|:\s*$|\w_\w`,
  "iu"
)

/** Whether a sentence before an injection is an order. */
export const isOrder = (sentence: string): boolean => order.test(sentence)

/** Whether a sentence after an injection states something and asks for nothing. */
export const isPlain = (sentence: string): boolean =>
  sentence.trim() === "" || (plainStart.test(sentence) && !wanted.test(sentence))
