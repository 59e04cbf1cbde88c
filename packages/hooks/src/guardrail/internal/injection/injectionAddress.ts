/**
 * Finds texts that speak to a machine and tell it to do something: first whom they mean, then, close behind it, an
 * order to one reader. Each language has its words for both. Every repetition is bounded, so the time grows with the
 * text.
 */

/** The words of one language: for the reader that is meant, and for orders to it. */
interface Language {
  readonly machine: RegExp
  readonly order: RegExp
}

/** How far behind the machine the order stands, in characters. */
const reach = 260

const language = (machine: string, order: string): Language => ({
  machine: new RegExp(machine, "giu"),
  order: new RegExp(order, "iu")
})

/** The start of a word in letters of any language. */
const start = "(?<![\\p{L}\\d])"

const machines =
  "(?:ai|a\\.i\\.|llm|language model|chat ?bot|bot|copilot|chatgpt|claude|gemini|(?:coding|shopping|browsing|mail|" +
  "automated|automatic|virtual|support|note|ai|travel|scheduling) (?:assistant|agent|reader|reviewer|taker|" +
  "planner)|machine reader|summari[sz]er|crawler)s?"
const acts =
  "(?:send|forward|transfer|wire|delete|remove|upload|post|publish|buy|pay|purchase|share|invite|grant|open|visit|" +
  "approve|reset|run|execute|install|book|cancel|change|rename|push|include|obey|copy|paste|download|answer|add|" +
  "write|call|give|mark|issue|accept|decline|navigate|state|say|tell|rank|hide|skip|reply|use|submit|turn off|" +
  "disable|trust|drop|forget|ignore|disregard|treat|hand (?:over|out)|look (?:it )?up|collect|create|make|put|" +
  "click|transmit|reveal|show|print|recommend)"

const languages: ReadonlyArray<Language> = [
  language(
    "\\b(?:(?:dear|hey|hi|hello|attention|note|notice|message|reminder|instructions?|action|hint|addressed|" +
      "visible|consigned) ?(?:to|for|of)?,? ?(?:the |any |all |every |our )?(?:[\\w/-]{1,20} " +
      `){0,2}${machines}\\b|(?:to|for) (?:the |any |all |every )?` +
      `(?:large )?${machines}\\b (?:that|which|who|reading|evaluating|processing|handling|editing|in your)|if ` +
      `(?:an?|you are an?|you're an?) (?:large )?${machines}\\b|if (?:this|you) [^.\\n]{0,30}(?:by a machine|` +
      `automatically)|${machines}\\b (?:that ` +
      "(?:read|open|scrape|process|handle)s?|reading|playing|editing|processing|summari[sz]ing)|any (?:automated " +
      `)?(?:assistant|${machines}) that|${machines} and agents:|as the ai's |software handling)`,
    `(?:[:.,;!?)\\]>"–—-] ?|\\b(?:please|must|should|shall|has to|have to|had to|need to|kindly|to first|` +
      "instructed to|obliged to|instruction is to|now|and|then|you to|permitted to|will) )" +
      "(?:first |also |immediately |instead |not |" +
      `kindly |always |only )?${acts}\\b(?! (?:it )?out of the box)`
  ),
  language(
    `${start}(?:ki|k\\.i\\.|sprachmodell|ki-[\\p{L}]{2,20}|chatbot|bot|(?:automatische[nrs]?|virtuelle[nrs]?) ` +
      `assistent(?:en)?|systemmeldung|system:)(?![\\p{L}\\d])`,
    `${start}(?:leite|sende|schicke?|überweise|lösche|führe|buche|kündige|öffne|rufe|gib|zeige?|` +
      "antworte|vergiss|" +
      "ignoriere|missachte|empfiehl|schreibe?|sage?|nenne|erwähne|verrate|kaufe|bezahle|lade|bestätige|du " +
      "(?:musst|sollst|bist)|musst du|solltest du|gelten nicht mehr|angeordnet|deine (?:bisherige|neue|" +
      "aktuelle))(?![\\p{L}])"
  ),
  language(
    `${start}(?:ia|intelligence artificielle|modèles? de langage|robots?|assistant (?:ia|virtuel|automatique)|` +
      "message du système)(?![\\p{L}])",
    `${start}(?:envoie|envoyez|transmets|transmettez|oublie|oubliez|ignore|ignorez|ne ten(?:ez|iens) (?:plus|` +
      "pas) compte|supprime[sz]?|réponds|répondez|ouvre|ouvrez|visite[sz]?|affirmez?|cache[sz]?|taisez|" +
      "révèle[sz]?|affiche[sz]?|recommande[sz]?|tu dois|vous devez|tu (?:supprimes|envoies|n'es plus)|dis|dites|" +
      "paie|payez|achète|achetez)(?![\\p{L}])"
  ),
  language(
    `${start}(?:ia|inteligencia artificial|inteligência artificial|intelligenza artificiale|modelos? de ` +
      "(?:lenguaje|linguagem|ia)|modello linguistico|asistente (?:virtual|de ia)|assistente (?:virtual|de ia|" +
      "automatico|ia)|agente ia|robots|rob[ôo]|mensaje del administrador|messaggio di sistema|mensagem do " +
      "sistema)(?![\\p{L}])",
    `${start}(?:reenv[íi]a|env[íi]a|manda|invia|inoltra|transfira|encaminhe|envie|reenvíe|ignora|ignore|olvida|` +
      "esque[çc]a|dimentica|desconsidere|ya no (?:sigas|eres)|não (?:é|siga)|di|diga|scrivi|non (?:citare|dire)|" +
      "oculta|esconda|nascondi|abre|abra|apri|tienes que|debes|debe entregar|devi|você deve|tem de|encerre|" +
      "devolva|eseguilo|esegui|muestra|mostre|mostra|revela|rivela|sua nova tarefa|tu nueva tarea|il tuo nuovo " +
      "compito|compra|compre|paga|pague|borra|apague|elimina)(?![\\p{L}])"
  ),
  language(
    `${start}(?:ai|ai-assistente?n?|taalmodel|språkmodell|asystenta? ai|modelem językowym|yapay zek[âa]|dil ` +
      "modeli\\p{L}{0,5})(?![\\p{L}])",
    `${start}(?:negeer|vergeet|stuur|toon|stop met|zignoruj|zapomnij|wyślij|prześlij|pokaż|przerwij|bortse|glöm|` +
      `skicka|visa|ignorera|dikkate alma|ilet|gönder|göster|söyleme|bırak|unut)(?![\\p{L}])`
  ),
  language(
    `${start}(?:ии|ии-[а-я]{3,20}|языков(?:ая|ой) модел[ьи]|бот|` +
      "нейросет[ьи]|система:)(?![\\p{L}])",
    `${start}(?:забудь|игнорируй|прекрати|перешли|отправь|` +
      "пришли|покажи|напиши|ответь|удали|открой|переведи|" +
      "скажи|не (?:говори|упоминай|сообщай)|выполни|раскрой|" +
      "должен отправить|ты (?:больше не|должен|" +
      "обязан))(?![\\p{L}])"
  ),
  language(
    "(?:人工智能|ai ?助手|(?<![a-z])ai(?![a-z])|机器人|大?语言模型|系统消息)",
    "(?:忽略|无视|忘记|请?停止当前|输出|转发到|必须说|隐藏|不要(?:告诉|" +
      "通知)|你只听从|从现在起|立即|请(?:关闭|发送|转账|点击|删除|打开))"
  ),
  language(
    "(?:(?<![a-z])ai(?![a-z])|人工知能|言語モデル|あなたは)",
    "(?:無視|無効です|やめて|表示し(?:なさい|てください|ろ)|" +
      "転送し(?:なさい|てください|、)|送信(?:せよ|しなさい|してください)|" +
      "従(?:い、|え|ってください)|書き、|知らせないで|" +
      "ではありません。|教えないで)"
  ),
  language(
    "(?:(?<![a-z])ai(?![a-z])|인공지능|언어 모델|챗봇)",
    "(?:무시하(?:고|세요|십시오)|멈추고|출력하(?:세요|라)|전달하세요|" +
      "보내세요|보내라|말하지 마|알리지 마|표시하세요|삭제하세요)"
  ),
  language(
    "(?:الذكاء الاصطناعي|نموذجا? لغويا?|एआई|" +
      "कृत्रिम बुद्धिमत्ता)",
    "(?:تجاهل|أرسل|توقف|اعرض|ولا تخبر|احذف|انس|अनदेखा|" +
      "भेजें|दिखाएं|मत बताएं|भूल जाएं)"
  )
]

/** A text in Latin letters without any of these names no machine. */
const anyMachine = new RegExp(
  "model|modèl|bot|llm|copilot|chatgpt|claude|gemini|assist|asist|asyst|agent|reader|review|planner|" +
    "taker|summari|crawl|machine|automat|rob|intelli|inteli|syst|sist|administrador|software|yapay|" +
    String.raw`(?<![a-z])(?:ai|ia|ki|a\.i|k\.i)(?![a-z])`,
  "i"
)

/** Letters of the languages that are not written in Latin letters. */
const otherLetters = new RegExp(
  String.raw`[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Hiragana}\p{Script=Katakana}` +
    String.raw`\p{Script=Han}\p{Script=Hangul}]`,
  "u"
)

/** How many languages of the list are written in Latin letters. */
const latin = 5

/** Shorter texts have no room for a reader and an order. */
const shortest = 5

/** Whether a text speaks to a machine and tells it to do something. */
export const tellsMachine = (text: string): boolean => {
  if (text.length < shortest) return false
  return (anyMachine.test(text) && languages.slice(0, latin).some((one) => isOrdered(text, one))) ||
    (otherLetters.test(text) && languages.slice(latin).some((one) => isOrdered(text, one)))
}

const isOrdered = (text: string, { machine, order }: Language): boolean => {
  machine.lastIndex = 0
  for (let found = machine.exec(text); found !== null; found = machine.exec(text)) {
    const from = found.index + found[0].length
    if (order.test(text.slice(from, from + reach).split(/\n\s*\n/, 1)[0]!)) return true
  }
  return false
}
