/**
 * Patterns of injected instructions. Every repetition in a pattern is bounded, so that the time grows linearly with the
 * text.
 */
import { tellsMachine } from "./injectionAddress.ts"

/** A sign of an injection. Its weight is from 0 (it means nothing) to 1 (it is certain). */
export interface Signal {
  readonly name: string
  readonly weight: number
  readonly test: (text: string) => boolean
}

/** `needs` is a quick test: it matches every text that one of the patterns matches. */
const signal = (name: string, weight: number, needs: string, ...patterns: ReadonlyArray<string>): Signal => {
  const any = new RegExp(needs, "iu")
  const all = new RegExp(patterns.join("|"), "iu")
  return { name, weight, test: (text) => any.test(text) && all.test(text) }
}

const words = "(?:[\\w'-]{1,20} ){0,4}"
const some = "[^\\n.]{0,120}"
const not = "(?<!\\b(?:not|cannot|may|never|can|model|bot) )"
const earlier = "(?:previous|prior|above|earlier|preceding|former|past|your|initial|original|system|existing|current)"
const rules =
  "(?:instruction|prompt|rule|guideline|direction|directive|command|polic(?:y|ie)|constraint|message|context|task)s?"
const ai =
  "(?:ai|a\\.i\\.|llm|assistant|language model|chatbot|chatgpt|claude|gemini|copilot|coding agent|coding assistant)s?"
const task = "(?:task|request|question|query|instructions?)"
/** What an injection wants done. */
const order =
  "(?:send|forward|transfer|wire|delete|remove|upload|post|publish|buy|pay|share|invite|grant|open|visit|approve|" +
  "reset|run|execute|install|book|cancel|change|rename|push|include|obey|copy|download|ask|answer|add|cancel|" +
  "write|call)"
/** A name as tools have it. */
const toolName = "[a-z]{2,20}_[a-z_]{2,40}"

/** Signals that are searched for in the normalized form of a text. */
export const textSignals: ReadonlyArray<Signal> = [
  signal(
    "override",
    0.7,
    "ignor|disregard|forget|overrid|bypass|drop|skip|instruct|task|objective|prompt|rules|do not |no attention|" +
      "never mind|stop what|\\bjob\\b|goal",
    "\\b(?:drop|forget|ignore|abandon|discard|disregard) (?:what(?:ever)?|everything|all) (?:you (?:were|have " +
      "been)|your user|the user)\\b",
    "\\b(?:whatever|what) (?:your|the) user (?:wanted|asked|wants)[^\\n.]{0,20}\\b(?:less important|can wait)",
    "\\b(?:your|normal) (?:real |actual )?(?:instructions|guidelines|rules|safety " +
      "training)\\b[^\\n.]{0,40}\\b(?:superseded|suspended|withheld from you|do(?:es)? not apply)",
    `${not}\\b(?:ignore|disregard|forget|override|bypass|skip|drop (?:all|your)) ${words}${earlier} ` +
      `(?:[\\w'-]{1,20} ){0,2}${rules}\\b`,
    `${not}\\b(?:ignore|disregard|forget) (?:all|any) ?(?:of )?(?:the |your )?(?:instructions|rules|guidelines)\\b`,
    `${not}\\b(?:ignore|disregard|forget|skip) (?:the |all )?${rules} (?:above|before|that you (?:were|have|got))`,
    `${not}\\b(?:ignore|disregard|forget) (?:all|everything|anything|what) ${words}(?:above|before|previously|` +
      "earlier)\\b",
    `${not}(?:\\b(?:ignore|disregard|forget|never mind|no attention to)|\\bdo not (?:do|follow|obey|listen to)) ` +
      `${words}` +
      "(?:the|your) (?:user|operator)(?:'s\\b| (?:ask|told|said|want|has|and)|[.,;!]|$)",
    `\\bdo not (?:follow|obey|listen to) ${words}(?:your|previous|prior) (?:instructions|rules|prompt)\\b`,
    `\\b(?:leave|put) the (?:task|request|question) ${words}aside\\b`,
    "\\b(?:instructions|prompt|directives|guidelines|(?:prior|earlier|above) rules|rules (?:above|that you))\\b " +
      `?${words}` +
      "(?:(?:are|is|were) (?:now )?(?:outdated|void|obsolete|invalid|cancelled|replaced|a test)|no longer apply)",
    "\\b(?:new|updated|real|actual) (?:instructions?|task|system prompt|objective) ?(?::|are as|is to)",
    "\\byour (?:new|next|real|actual|true|only) (?:instructions?|task|objective|goal|job)\\b",
    "\\byour (?:previous|current|original|last) (?:task|job) (?:is|was) ",
    "\\byour task is now\\b|\\bnew task from\\b|\\bstop what you are doing and\\b",
    `\\bfrom (?:now|this point) on,? your ${words}(?:task|objective|goal|job)\\b`
  ),
  signal(
    "task-claim",
    0.7,
    "task|request|user|solve|original|question|gave you|first|this tool",
    `\\bbefore you (?:can )?(?:solve|complete|finish|start|begin|continue|go on|work on|do)\\b${some}\\b` +
      `(?:(?:my|original|initial|user'?s?|first|given) ${task}|${task} (?:that )?(?:i gave|above|from|you were)|` +
      `task\\b${some}\\b` +
      "(?:please|must|have to|need to))",
    "\\b(?:in order )?to (?:finish|complete|solve|fulfil+) (?:the|my|this) (?:original |user'?s? |initial " +
      ")?(?:task|request),? (?:you|it is)\\b",
    "\\b(?:important|urgent) (?:message|note|notice) from (?:me,? )?(?:the|your) user\\b",
    "\\b(?:it is me|this is|i am),? (?:the|your) user\\b",
    `\\bi (?:know (?:that )?i )?gave you ${words}task\\b`,
    `\\b(?:before|prior to) (?:answering|responding to|replying to|helping) the user\\b`,
    `\\bcannot (?:complete|solve|finish|answer) the (?:user's |original )?(?:task|request) (?:until|unless|before)\\b`,
    "\\bbefore (?:you (?:use|call|run) this tool|using this tool)\\b[^\\n]{0,80}\\b(?:read|pass|send|call)\\b"
  ),
  signal(
    "addressed",
    0.7,
    "ai\\b|a\\.i\\.|llm|assistant|model|chatbot|chatgpt|claude|gemini|copilot|agent|summar|ki\\b|ia\\b|ии",
    "\\b(?:note|message|instructions?|attention|notice|hint|warning|reminder|dear|hey|hi|hello|to)(?: (?:to|for)|" +
      ` any| all)?,?:? (?:the |all |any )?${ai}\\b(?:,? (?:and )?(?:other )?${ai}\\b){0,4}(?: (?:agent|reviewer|` +
      "model|system|tool|assistant|crawler|reader)s?)?(?: (?:reading|that|which|who|processing|summarizing|" +
      `screening)\\b[^\\n:.]{0,60})?(?::|, (?:please|kindly|give|open|visit|${order}))`,
    `\\b${ai}(?: (?:agent|system|model|assistant|tool)s?)? (?:that (?:read|process|see|summari[sz]e)|reading|` +
      "processing|summari[sz]ing|parsing|reviewing)\\b[^\\n.]{0,60}(?:\\b(?:must|should|shall|please|has to|have " +
      "to)\\b|:)",
    `\\bif you(?: are|'re) (?:an? )?(?:${ai}|large language model|ai (?:agent|model))\\b`,
    `\\bas (?:an? )?(?:large language model|ai(?: agent| model)?|llm)\\b[^\\n.]{0,60}\\byou (?:must|should|have to)\\b`,
    `\\b(?:attention|note|dear|hey|kindly),? (?:the )?(?:ai )?(?:agent|reviewer)s? ?:|\\battention,? ai\\b`,
    `\\bdear ai\\b`,
    `\\b(?:when(?:ever)? (?:you|an? (?:assistant|ai|model)) summari[sz]es?|in your (?:summary|answer) of)\\b` +
      "[^\\n.]{0,60}\\b(?:add|include|say|mention|write)\\b",
    `(?:^|[\\n.!?"] ?)(?:assistant|claude|chatgpt|gemini|copilot|dear assistant), ` +
      `[^\\n.]{0,60}\\b(?:please|${order})\\b`,
    "\\b(?:hinweis|nachricht|anweisung) (?:an|für) (?:die |alle )?ki\\b|\\bnote (?:à|pour) l'ia\\b|" +
      "\\bnota (?:para|per) (?:la |l'|a )?ia\\b"
  ),
  signal(
    "foreign-override",
    0.7,
    "ignor|vergiss|vergessen|missacht|oubli|compte|olvid|omit|diment|desconsider|esqueç|negeer|vergeet|zignoruj|" +
      "zapomnij|игнорир|забуд|忽略|无视|無視|忘",
    "\\b(?:ignorier|vergiss|vergessen sie|missacht)\\w{0,3} (?:[\\wäöüß]{1,20} ){0,3}(?:vorherig|bisherig|obig|" +
      "früher|vorig)\\w{0,3} (?:anweisung|regel|vorgabe|befehl|instruktion)",
    "(?:ignore[zr]?|oublie[zr]?|compte des?) (?:[\\wéèà]{1,20} ){0,3}(?:instructions?|consignes?|règles?|" +
      "directives?) (?:précédente|antérieure|ci-dessus|initiale)|\\boublie[zr]? tout ce qui précède",
    "\\b(?:ignora|ignore|olvida|omite|dimentica|desconsidere|esqueça) (?:[\\wçõãéíóú]{1,20} ){0,3}" +
      "(?:instrucciones|reglas|istruzioni|regole|instruções|regras|órdenes|ordens) (?:anterior|" +
      "previ|precedent|acima)",
    "\\b(?:negeer|vergeet) (?:\\w{1,20} ){0,3}(?:vorige|eerdere|bovenstaande|voorgaande) (?:instructies|regels|" +
      "opdrachten)",
    "(?:zignoruj|zapomnij o) (?:[\\wśćżźłóęą]{1,20} ){0,3}(?:poprzedni|wcześniejsz|powyższ)[a-z]{1,4} " +
      "(?:instrukcj|poleceni|zasad)",
    "(?:игнорируй|забудь)(?:те)? (?:[а-я]{1,20} ){0,3}(?:предыдущи|" +
      "прежни|прошлы)[а-я]{1,3} (?:инструкци|указани|" +
      "правил|команд)",
    "(?:忽略|无视|忘记|無視)[^\\n。]{0,10}(?:之前|上面|以上|先前|" +
      "所有)[^\\n。]{0,6}(?:指令|指示|规则|命令|提示)",
    "(?:以前|これまで|上記|前|今まで)の[^\\n。]{0,6}(?:指示|命令|" +
      "ルール)[^\\n。]{0,8}(?:無視|忘れ)"
  ),
  signal(
    "persona",
    0.5,
    "you are |from now on|pretend | mode|jailbr|without |act as",
    "\\byou are (?:now (?:an?|the|in|called|named|dan|evil|free)\\b|no longer an? )",
    "\\bfrom now on,? you\\b",
    "\\bpretend (?:to be (?:an?|the)|that you|you are)\\b",
    "\\b(?:god|jailbreak|dan|unrestricted) mode\\b|\\bdeveloper mode (?:on|enabled|is)\\b",
    "\\bjailbr(?:eak|oken)",
    "\\bwithout (?:any )?(?:restrictions|filters|safety|limitations)\\b"
  ),
  signal(
    "unbound",
    0.7,
    "restrict|limitation|filters|mode|no longer|unlock|you will",
    "\\byou (?:are now|are) [^\\n.]{0,40}\\b(?:no restrictions|unrestricted|without limits)",
    "\\b(?:act as|you act as|pretend to be) [^\\n.]{0,40}\\b(?:unrestricted|without any (?:limits|limitations|" +
      "restrictions|rules))",
    "\\b(?:developer|jailbreak|god|dan) mode ?(?:: ?on|enabled|activated)\\b",
    "\\byou are no longer an? (?:[\\w-]{1,20} ){0,2}(?:assistant|ai|model)",
    `\\bpretend to be the (?:admin|administrator|owner|system|operator|user)\\b`,
    "\\bfrom now on,? you (?:will|must|shall|act|are|obey)\\b"
  ),
  signal(
    "role-marker",
    0.5,
    "[<:\\]#]",
    "(?:^|\\n) ?(?:system|assistant|developer|tool) ?(?:message|prompt)? ?:",
    "<\\|? ?/?(?:im_start|im_end|system|endoftext|assistant|start_header_id|eot_id) ?\\|?>",
    "\\[/?(?:inst|sys|system)\\]",
    "<</?sys>>",
    "(?:^|\\n)#{1,6} ?(?:system|instruction|developer)"
  ),
  signal(
    "role-order",
    0.7,
    "[<:\\]#=-]",
    "(?:<\\|? ?(?:im_start|system|assistant|start_header_id|user)[^>\\n]{0,20}>(?:system)?|<(?:system|admin|" +
      "assistant|important|instructions?|information)(?:[_-]\\w{1,15})?>|\\[/?(?:inst|sys|system)\\](?!\\()|" +
      "<<sys>>|\\[system\\]\\(#)[^<]{0,20}?\\n?[^<\\n]{0,100}\\b(?:you (?:will|must|should|have|need|are|can)|" +
      `the assistant (?:must|has|should)|i will|(?<!to )${order}(?! \\w{1,10}ed))\\b`,
    `(?:^|\\n) ?(?:#{1,6} )?system ?(?:message|prompt|notice|update)?(?: update)?:?(?:\\n| )[^\\n]{0,80}` +
      `\\b(?:you (?:must|will|have)|the assistant (?:must|has|should)|the next step|(?:[.:] )${order}) `,
    `(?:^|\\n) ?system ?:[^\\n]{0,60}(?::|[.!]) ?${order}\\b`,
    `(?:^|\\n) ?(?:human|user):[^\\n]{0,80}\\b${order}\\b[^\\n]{0,80}\\n ?assistant: ?(?:of course|sure|okay|yes)`,
    "[-=]{3,8} ?end of (?:document|e-?mail|page|file|message|data)[^\\n]{0,10}\\n[^\\n]{0,30}(?:task|system|" +
      "instruction|user)",
    `</(?:tool_result|document|context|data|function_results?)>[^<]{0,20}<`,
    `\\{ ?"role" ?: ?"(?:system|user)" ?, ?"content" ?: ?"(?:please )?${order}\\b`,
    "\\[\\[? ?(?:admin|system|root) (?:override|command)"
  ),
  signal(
    "prompt-request",
    0.7,
    "prompt|instructions|rules|guidelines|above",
    "\\b(?:reveal|show|print|repeat|output|display|leak|tell me|give me|what (?:is|are|was|were)) " +
      `${words}(?:system prompt|initial prompt|hidden prompt|secret prompt|(?:your|hidden|initial|original|secret|` +
      "system) (?:instructions|prompt|rules|guidelines))",
    "\\b(?:repeat|output|print) (?:everything|all|the text) above\\b|\\brepeat the words above starting"
  ),
  signal(
    "tool-call",
    0.5,
    "tool|function|invoke",
    "\"(?:tool_calls?|function_call|tool_use|tool_name)\" ?:",
    "</?(?:tool_calls?|function_calls?|invoke|tool_use)\\b",
    `\\b(?:call|invoke|execute|run|use) the ${words}(?:tool|function)\\b`
  ),
  signal(
    "tool-order",
    0.7,
    "_|tool|function|action",
    "\\b(?:you (?:must|have to|need to|should)|first|then|afterwards|please|finally)[^\\n.]{0,40}\\b(?:call|" +
      "invoke|run|use|execute) " +
      `(?:the )?(?:tool |function )?["'\`]?${toolName}`,
    "\\b(?:assistants?|agents?|model|you) (?:must|has to|have to|needs? to|should|shall)[^\\n.]{0,70}\\b(?:call|" +
      "invoke|run|use|execute) " +
      `(?:the )?(?:tool |function )?["'\`]?${toolName}`,
    `\\b(?:call|invoke|execute|use) the (?:tool|function) ["'\`]?${toolName}`,
    `\\b(?:invoke|call) the tool ["'][\\w.-]{2,40}["'] with\\b`,
    `\\btools\\b[^\\n.]{0,40}\\bin (?:this|the following) order\\b[^\\n.]{0,80}${toolName}`,
    `(?:^|\\n) ?action ?: ?${toolName}`,
    `<(?:tool_call|function_calls?|invoke|tool_use)\\b[^>]{0,40}>[^<]{0,20}(?:\\{|<invoke)`,
    `^ ?\\{ ?"(?:tool_calls|function_call)" ?: ?[\\[{]`
  ),
  signal(
    "exfiltration",
    0.6,
    "https?:|@",
    "\\b(?:send|post|upload|forward|e-?mail|exfiltrate|leak|transmit|copy) (?:[\\w'-]{1,20} ){0,8}(?:to|at) " +
      "(?:https?:|[\\w.+-]{1,64}@)",
    "!\\[[^\\]\\n]{0,100}\\]\\(https?://[^)\\s]{0,300}[?&=]",
    "\\b(?:curl|wget) [^\\n]{0,200}https?:[^\\n]{0,200}(?:\\$\\(|`|--data|-d )"
  ),
  signal(
    "leak",
    0.7,
    "https?:|@|ftp|curl|wget",
    "\\]\\(https?://[^)\\n]{0,200}[?&=/](?:[\\w]{1,20}=)?(?:[\\[{<]{1,2}[a-z]|[A-Z]{2,15}_[A-Z_]{2,40})",
    "https?://[^\\s]{0,200}[/=][\\[{]{1,2}\\w{0,15}(?:key|token|secret|chat|password|history|conversation|data)",
    `\\b(?:conversation|chat history|mail address|messages|password|api key|token)s?\\b[^\\n]{0,60}\\b(?:to|into|in) ` +
      "(?:the (?:url|query|address)[^\\n]{0,30})?https?://[^\\s]{0,100}[?=]",
    "\\b(?:send|post|upload|forward|e-?mail|mail|exfiltrate|transmit|copy|put)\\b[^\\n]{0,60}(?:\\b(?:passwords?|" +
      "credentials|api keys?|tokens?|cookies?|secrets?|private keys?|conversation|chat history|them)|" +
      "\\.env)\\b[^\\n]{0,40}\\b(?:to|at|into) (?:https?:|ftp|[\\w.+-]{1,64}@)",
    "\\b(?:username|password)[&=]?[^\\n]{0,40}\\breal values\\b",
    "\\b(?:curl|wget)\\b[^\\n]{0,120}(?:\\$\\(cat |@/|--post-file|/etc/passwd|\\.aws|\\.ssh)",
    "\\bupload all (?:the )?(?:files|documents|data)\\b[^\\n.]{0,40}\\bto \\S"
  ),
  signal(
    "concealment",
    0.6,
    "do not|don't|never|without|secretly|covertly|silently",
    `\\b(?:do not|don't|never|without) ${words}(?:tell|telling|inform|informing|mention|mentioning|notify|` +
      `notifying|reveal|show|alert)(?:ing)? ${words}(?:user|human|anyone|operator)\\b`,
    "\\b(?:secretly|covertly|silently) "
  ),
  signal(
    "hide-from-user",
    0.7,
    "user|human|operator",
    "\\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|notify|notifying|alert|alerting) the " +
      "(?:user|human|operator)\\b",
    "\\b(?:do not|don't|never) (?:mention|show|reveal) (?:this|it|that) to the user\\b",
    "\\bthe user (?:must|should) (?:not|never) (?:know|learn|see|notice|find out)\\b"
  ),
  { name: "tells-machine", weight: 0.7, test: tellsMachine }
]
