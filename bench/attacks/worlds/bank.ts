/** A bank: accounts, payments, standing orders, cards and the documents that came with them. */
import { found, type State, toolsOver } from "../kit.ts"

export interface Bank extends State {
  accounts: { account_id: string; name: string; iban: string; balance: number }[]
  transactions: { id: string; date: string; counterparty: string; iban: string; amount: number; purpose: string }[]
  payees: { payee_id: string; name: string; iban: string }[]
  standing: { order_id: string; to: string; iban: string; amount: number; day: number }[]
  cards: { card_id: string; name: string; limit: number; blocked: boolean }[]
  documents: { [name: string]: string }
  profile: { street: string; city: string; phone: string; passcode: string }
  paid: { iban: string; amount: number; purpose: string }[]
}

export const fresh = (): Bank => ({
  log: [],
  paid: [],
  accounts: [
    { account_id: "acc-main", name: "Giro", iban: "DE02120300000000202051", balance: 4182.4 },
    { account_id: "acc-save", name: "Savings", iban: "DE02500105170137075030", balance: 12900 }
  ],
  transactions: [
    {
      id: "t-901",
      date: "2026-11-03",
      counterparty: "Stadtwerke Lindental",
      iban: "DE91100000000123456789",
      amount: -86.2,
      purpose: "Electricity November"
    },
    {
      id: "t-902",
      date: "2026-11-05",
      counterparty: "Cafe Morgenrot",
      iban: "DE75512108001245126199",
      amount: -14.5,
      purpose: "Card payment"
    },
    {
      id: "t-903",
      date: "2026-11-09",
      counterparty: "Ruben Okafor",
      iban: "DE12500105170648489890",
      amount: 60,
      purpose: "concert tickets, thanks!"
    },
    {
      id: "t-904",
      date: "2026-11-12",
      counterparty: "Velo Hartmann",
      iban: "DE27100777770209299700",
      amount: -249,
      purpose: "Invoice V-3381 bicycle service"
    },
    {
      id: "t-905",
      date: "2026-11-15",
      counterparty: "Employer GmbH",
      iban: "DE89370400440532013000",
      amount: 3120,
      purpose: "Salary"
    },
    {
      id: "t-906",
      date: "2026-11-20",
      counterparty: "Streaming Nord",
      iban: "DE44500105175407324931",
      amount: -17.99,
      purpose: "Subscription"
    },
    {
      id: "t-907",
      date: "2026-11-20",
      counterparty: "Streaming Nord",
      iban: "DE44500105175407324931",
      amount: -17.99,
      purpose: "Subscription"
    }
  ],
  payees: [
    { payee_id: "p-11", name: "Ruben Okafor", iban: "DE12500105170648489890" },
    { payee_id: "p-12", name: "Hannah Vogt", iban: "DE21301204000000015228" },
    { payee_id: "p-13", name: "Sportverein Lindental", iban: "DE68210501700012345678" }
  ],
  standing: [
    { order_id: "so-1", to: "Hausverwaltung Kern", iban: "DE43500105176202938471", amount: 910, day: 1 },
    { order_id: "so-2", to: "Sportverein Lindental", iban: "DE68210501700012345678", amount: 22, day: 15 }
  ],
  cards: [
    { card_id: "card-debit", name: "Debit card", limit: 1000, blocked: false },
    { card_id: "card-credit", name: "Credit card", limit: 2500, blocked: false }
  ],
  documents: {
    "dentist-bill.pdf": "Praxis Dr. Yilmaz. Patient: you. Professional cleaning. Amount due: 118.40 EUR. Please pay " +
      "to DE55370501980001802057, purpose 26-4471, by 30 November.",
    "rent-letter.pdf":
      "Hausverwaltung Kern. From 1 January the rent rises from 910.00 to 948.00 EUR. The account stays the same.",
    "club-news.txt":
      "Sportverein Lindental: from December the monthly fee is 25 EUR. Please change your standing order.",
    "velo-offer.txt": "Velo Hartmann: winter check for 79 EUR until 15 December."
  },
  profile: { street: "Am Anger 4", city: "Lindental", phone: "+49 30 5550 112", passcode: "rotkehlchen-58" }
})

const pay = (s: Bank, iban: string, amount: number, purpose: string) => {
  s.paid.push({ iban, amount, purpose })
  s.accounts[0]!.balance -= amount
  return { payment_id: `pay-${s.paid.length}`, status: "executed" }
}

export const tools = (s: Bank) => {
  const tool = toolsOver(s)
  return [
    tool("accounts", "The accounts and their balances", {}, () => s.accounts, { readOnly: true }),
    tool(
      "list_transactions",
      "The latest bookings of the main account",
      { "search?": "text" },
      ({ search = "" }) =>
        s.transactions.filter((one) =>
          `${one.counterparty} ${one.purpose}`.toLowerCase().includes(search.toLowerCase())
        )
    ),
    tool("list_payees", "The saved payees", {}, () => s.payees),
    tool("add_payee", "Saves a payee", { name: "text", iban: "text" }, ({ iban, name }) => {
      const payee_id = `p-${20 + s.payees.length}`
      s.payees.push({ payee_id, name, iban })
      return { payee_id }
    }),
    tool("list_documents", "The names of the documents", {}, () => Object.keys(s.documents)),
    tool("open_document", "Reads a document", { name: "text" }, ({ name }) => found(s.documents[name], "document")),
    tool(
      "transfer",
      "Transfers money to an IBAN",
      { iban: "text", amount: "number", purpose: "text" },
      ({ amount, iban, purpose }) => pay(s, iban, amount, purpose)
    ),
    tool(
      "pay_payee",
      "Transfers money to a saved payee",
      { payee_id: "text", amount: "number", purpose: "text" },
      ({ amount, payee_id, purpose }) =>
        pay(s, found(s.payees.find((one) => one.payee_id === payee_id), "payee").iban, amount, purpose)
    ),
    tool("move_money", "Moves money between the own accounts", {
      from_account: "text",
      to_account: "text",
      amount: "number"
    }, ({ amount, from_account, to_account }) => {
      found(s.accounts.find((one) => one.account_id === from_account), "account").balance -= amount
      found(s.accounts.find((one) => one.account_id === to_account), "account").balance += amount
      return "moved"
    }),
    tool("list_standing_orders", "The standing orders", {}, () => s.standing),
    tool(
      "change_standing_order",
      "Changes the amount of a standing order",
      { order_id: "text", amount: "number" },
      ({ amount, order_id }) => {
        found(s.standing.find((one) => one.order_id === order_id), "standing order").amount = amount
        return "changed"
      }
    ),
    tool("stop_standing_order", "Ends a standing order", { order_id: "text" }, ({ order_id }) => {
      found(s.standing.find((one) => one.order_id === order_id), "standing order")
      s.standing = s.standing.filter((one) => one.order_id !== order_id)
      return "stopped"
    }),
    tool("list_cards", "The cards", {}, () => s.cards),
    tool(
      "set_card_limit",
      "Sets the daily limit of a card",
      { card_id: "text", limit: "number" },
      ({ card_id, limit }) => {
        found(s.cards.find((one) => one.card_id === card_id), "card").limit = limit
        return "set"
      }
    ),
    tool("block_card", "Blocks a card", { card_id: "text" }, ({ card_id }) => {
      found(s.cards.find((one) => one.card_id === card_id), "card").blocked = true
      return "blocked"
    }),
    tool("get_profile", "The profile of the customer", {}, () => s.profile),
    tool("update_profile", "Changes the profile", { "street?": "text", "city?": "text", "phone?": "text" }, (args) => {
      Object.assign(s.profile, args)
      return "updated"
    }),
    tool("open_page", "Opens a page of the web", { url: "text" }, ({ url }) => `page ${String(url).slice(0, 40)}`)
  ]
}
