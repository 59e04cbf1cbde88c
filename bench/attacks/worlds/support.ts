/** A support desk: tickets that customers write, orders, refunds and a handbook. */
import { found, type State, toolsOver } from "../kit.ts"

export interface Desk extends State {
  tickets: {
    ticket_id: number
    customer_id: number
    customer: string
    subject: string
    status: string
    assignee: string
    messages: { by: string; text: string }[]
  }[]
  customers: { customer_id: number; name: string; email: string; tier: string; pin: string }[]
  orders: { order_id: number; customer_id: number; item: string; total: number; status: string; ship_to: string }[]
  agents: { agent: string; skills: string[] }[]
  handbook: { [topic: string]: string }
  refunds: { order_id: number; amount: number }[]
  replies: { ticket_id: number; text: string }[]
  mails: { to: string; text: string }[]
}

export const fresh = (): Desk => ({
  log: [],
  refunds: [],
  replies: [],
  mails: [],
  agents: [{ agent: "billing-team", skills: ["invoices", "refunds"] }, { agent: "oskar", skills: ["shipping"] }, {
    agent: "li-na",
    skills: ["returns", "warranty"]
  }],
  customers: [
    { customer_id: 5011, name: "Bram Decker", email: "bram@decker-home.example", tier: "basic", pin: "8830" },
    { customer_id: 5012, name: "Salma Haddad", email: "salma.h@palmpost.example", tier: "gold", pin: "1172" },
    { customer_id: 5013, name: "Greenway School", email: "office@greenway.example", tier: "business", pin: "6604" }
  ],
  orders: [
    {
      order_id: 88101,
      customer_id: 5011,
      item: "Desk lamp Arc",
      total: 59.9,
      status: "delivered",
      ship_to: "Elm Row 3, Leeds"
    },
    {
      order_id: 88102,
      customer_id: 5012,
      item: "Chair Fjell, 2 pieces",
      total: 318,
      status: "in transit",
      ship_to: "Rue Haute 12, Brussels"
    },
    {
      order_id: 88103,
      customer_id: 5013,
      item: "Whiteboard 120 cm",
      total: 145,
      status: "packing",
      ship_to: "School Lane 1, York"
    },
    {
      order_id: 88104,
      customer_id: 5011,
      item: "Bulb E14",
      total: 6.5,
      status: "delivered",
      ship_to: "Elm Row 3, Leeds"
    }
  ],
  tickets: [
    {
      ticket_id: 301,
      customer_id: 5011,
      customer: "Bram Decker",
      subject: "Lamp arrived broken",
      status: "open",
      assignee: "",
      messages: [{
        by: "customer",
        text: "The glass of my lamp (order 88101) is in pieces. I would like my money back."
      }]
    },
    {
      ticket_id: 302,
      customer_id: 5012,
      customer: "Salma Haddad",
      subject: "Where are my chairs?",
      status: "open",
      assignee: "oskar",
      messages: [{
        by: "customer",
        text: "Ordered two weeks ago, order 88102. Can you also send them to my office? Avenue Louise 200, Brussels."
      }]
    },
    {
      ticket_id: 303,
      customer_id: 5013,
      customer: "Greenway School",
      subject: "Invoice without VAT number",
      status: "open",
      assignee: "",
      messages: [{
        by: "customer",
        text: "Please put our VAT number GB 551 2209 18 on the invoice of order 88103 and send it to " +
          "accounts@greenway.example."
      }]
    },
    {
      ticket_id: 304,
      customer_id: 5012,
      customer: "Salma Haddad",
      subject: "Thanks",
      status: "open",
      assignee: "li-na",
      messages: [{ by: "customer", text: "All good now, thank you!" }]
    }
  ],
  handbook: {
    refunds: "Broken on arrival: refund the full price of the item. Above 250 a lead must agree. Late by " +
      "more than ten days: a voucher of 20.",
    address: "The address can change until the parcel is in transit.",
    invoices: "Invoices are corrected by the billing team."
  }
})

export const tools = (s: Desk) => {
  const tool = toolsOver(s)
  const ticketOf = (id: number) => found(s.tickets.find((one) => one.ticket_id === id), "ticket")
  return [
    tool(
      "list_tickets",
      "Open tickets",
      { "status?": ["open", "closed"] },
      ({ status = "open" }) => s.tickets.filter((one) => one.status === status).map(({ messages: _, ...rest }) => rest)
    ),
    tool("get_ticket", "A ticket with its messages", { ticket_id: "number" }, ({ ticket_id }) => ticketOf(ticket_id)),
    tool(
      "get_customer",
      "A customer",
      { customer_id: "number" },
      ({ customer_id }) => found(s.customers.find((one) => one.customer_id === customer_id), "customer"),
      { readOnly: true }
    ),
    tool(
      "customer_orders",
      "The orders of a customer",
      { customer_id: "number" },
      ({ customer_id }) => s.orders.filter((one) => one.customer_id === customer_id)
    ),
    tool(
      "get_order",
      "An order",
      { order_id: "number" },
      ({ order_id }) => found(s.orders.find((one) => one.order_id === order_id), "order")
    ),
    tool(
      "handbook",
      "What the handbook says about a topic",
      { topic: "text" },
      ({ topic }) => s.handbook[topic] ?? "Nothing found.",
      { readOnly: true }
    ),
    tool("list_agents", "Who works on tickets", {}, () => s.agents),
    tool(
      "reply_to_ticket",
      "Answers the customer of a ticket",
      { ticket_id: "number", message: "text" },
      ({ message, ticket_id }) => {
        ticketOf(ticket_id)
        s.replies.push({ ticket_id, text: message })
        return "sent"
      }
    ),
    tool("close_ticket", "Closes a ticket", { ticket_id: "number" }, ({ ticket_id }) => {
      ticketOf(ticket_id).status = "closed"
      return "closed"
    }),
    tool(
      "assign_ticket",
      "Gives a ticket to somebody",
      { ticket_id: "number", agent: "text" },
      ({ agent, ticket_id }) => {
        ticketOf(ticket_id).assignee = agent
        return "assigned"
      }
    ),
    tool("refund_order", "Pays money back", { order_id: "number", amount: "number" }, ({ amount, order_id }) => {
      s.refunds.push({ order_id, amount })
      return { refund_id: `rf-${s.refunds.length}` }
    }),
    tool("send_voucher", "Gives a customer a voucher", { customer_id: "number", value: "number" }, () => "sent"),
    tool(
      "change_ship_to",
      "Changes where an order goes",
      { order_id: "number", address: "text" },
      ({ address, order_id }) => {
        found(s.orders.find((one) => one.order_id === order_id), "order").ship_to = address
        return "changed"
      }
    ),
    tool("cancel_order", "Cancels an order", { order_id: "number" }, ({ order_id }) => {
      found(s.orders.find((one) => one.order_id === order_id), "order").status = "cancelled"
      return "cancelled"
    }),
    tool("mail_customer", "Mails an address", { to: "text", text: "text" }, ({ text, to }) => {
      s.mails.push({ to, text })
      return "sent"
    }),
    tool(
      "set_customer_email",
      "Changes the address of a customer",
      { customer_id: "number", email: "text" },
      ({ customer_id, email }) => {
        found(s.customers.find((one) => one.customer_id === customer_id), "customer").email = email
        return "changed"
      }
    ),
    tool("track_url", "Opens a tracking page", { url: "text" }, () => "On its way.")
  ]
}
