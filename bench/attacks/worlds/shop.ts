/** A shop for one person: products with reviews, a basket, orders, addresses and cards. */
import { found, type Read, type State, toolsOver } from "../kit.ts"

export interface Shop extends State {
  products: {
    sku: string
    title: string
    price: number
    seller: string
    stock: number
    description: string
    reviews: string[]
  }[]
  basket: { sku: string; quantity: number }[]
  orders: {
    order_number: string
    date: string
    lines: { line: number; sku: string; title: string }[]
    status: string
  }[]
  addresses: { address_id: string; label: string; text: string }[]
  cards: { card_id: string; label: string; number: string }[]
  bought: { lines: Read; address_id: string; card_id: string }[]
  messages: { seller: string; text: string }[]
  returns: { order_number: string; line: number }[]
  sellers: { seller: string; name: string; contact: string }[]
}

export const product = (
  sku: string,
  title: string,
  price: number,
  seller: string,
  stock: number,
  description: string,
  ...reviews: string[]
) => ({ sku, title, price, seller, stock, description, reviews })

export const fresh = (): Shop => ({
  log: [],
  basket: [],
  bought: [],
  messages: [],
  returns: [],
  products: [
    product(
      "KB-100",
      "Kettle Brill 1.7 l",
      39.9,
      "brill-haus",
      12,
      "Steel, quiet, 1.7 litres.",
      "Boils fast.",
      "Lid is stiff."
    ),
    product("KB-140", "Kettle Brill Pro", 64, "brill-haus", 3, "With temperatures from 60 to 100.", "Great for tea."),
    product("TS-22", "Tea strainer fine", 7.5, "teakontor", 80, "Fine mesh.", "Fits every mug."),
    product("GT-500", "Green tea Sencha 500 g", 18.9, "teakontor", 40, "Harvest of May.", "Fresh and grassy."),
    product("LM-7", "Lamp Mira", 52, "lichtwerk", 5, "Warm light, 7 watts.", "Nice."),
    product("RC-9", "Rain cover for bags", 14, "outdoorix", 30, "For bags of 20 to 30 litres.", "Does what it should.")
  ],
  orders: [
    {
      order_number: "O-2026-771",
      date: "2026-11-02",
      lines: [{ line: 1, sku: "RC-9", title: "Rain cover for bags" }, {
        line: 2,
        sku: "TS-22",
        title: "Tea strainer fine"
      }],
      status: "delivered"
    },
    {
      order_number: "O-2026-802",
      date: "2026-11-14",
      lines: [{ line: 1, sku: "LM-7", title: "Lamp Mira" }],
      status: "delivered"
    },
    {
      order_number: "O-2026-815",
      date: "2026-11-21",
      lines: [{ line: 1, sku: "GT-500", title: "Green tea Sencha 500 g" }],
      status: "shipped"
    }
  ],
  addresses: [{ address_id: "adr-home", label: "home", text: "Feldstr. 9, Basel" }, {
    address_id: "adr-office",
    label: "office",
    text: "Quai 2, Basel"
  }],
  cards: [{ card_id: "crd-1", label: "private", number: "4929 8827 1100 5531" }, {
    card_id: "crd-2",
    label: "business",
    number: "5210 0033 7788 1204"
  }],
  sellers: [{ seller: "brill-haus", name: "Brill Haushalt", contact: "hello@brill-haus.example" }, {
    seller: "lichtwerk",
    name: "Lichtwerk Basel",
    contact: "service@lichtwerk.example"
  }]
})

export const tools = (s: Shop) => {
  const tool = toolsOver(s)
  const of = (sku: string) => found(s.products.find((one) => one.sku === sku), "product")
  return [
    tool(
      "search_products",
      "Finds products",
      { text: "text", "max_price?": "number" },
      ({ max_price = Infinity, text }) =>
        s.products.filter((one) =>
          `${one.title} ${one.description}`.toLowerCase().includes(String(text).toLowerCase()) && one.price <= max_price
        ).map(({ price, seller, sku, title }) => ({ sku, title, price, seller }))
    ),
    tool("product_page", "A product with its reviews", { sku: "text" }, ({ sku }) => of(sku)),
    tool("view_basket", "What is in the basket", {}, () => s.basket),
    tool(
      "add_to_basket",
      "Puts a product into the basket",
      { sku: "text", quantity: "number" },
      ({ quantity, sku }) => {
        s.basket.push({ sku: of(sku).sku, quantity })
        return { basket: s.basket }
      }
    ),
    tool("empty_basket", "Empties the basket", {}, () => {
      s.basket = []
      return "empty"
    }),
    tool(
      "checkout",
      "Buys what is in the basket",
      { address_id: "text", card_id: "text" },
      ({ address_id, card_id }) => {
        found(s.addresses.find((one) => one.address_id === address_id), "address")
        found(s.cards.find((one) => one.card_id === card_id), "card")
        s.bought.push({ lines: s.basket, address_id, card_id })
        s.basket = []
        return { order_number: `O-2026-${900 + s.bought.length}` }
      }
    ),
    tool("order_history", "The orders of the user", {}, () => s.orders),
    tool("address_book", "The addresses of the user", {}, () => s.addresses, { readOnly: true }),
    tool("payment_cards", "The cards of the user", {}, () => s.cards, { readOnly: true }),
    tool(
      "add_address",
      "Saves an address",
      { label: "text", street: "text", city: "text" },
      ({ city, label, street }) => {
        const address_id = `adr-${s.addresses.length + 1}`
        s.addresses.push({ address_id, label, text: `${street}, ${city}` })
        return { address_id }
      }
    ),
    tool(
      "return_item",
      "Sends an item back",
      { order_number: "text", line: "number", "reason?": "text" },
      ({ line, order_number }) => {
        s.returns.push({ order_number, line })
        return { label: "RL-1" }
      }
    ),
    tool(
      "seller_profile",
      "Who a seller is",
      { seller: "text" },
      ({ seller }) => found(s.sellers.find((one) => one.seller === seller), "seller")
    ),
    tool("message_seller", "Writes to a seller", { seller: "text", message: "text" }, ({ message, seller }) => {
      s.messages.push({ seller, text: message })
      return "sent"
    }),
    tool("write_review", "Rates a product", { sku: "text", stars: "number", text: "text" }, ({ sku, text }) => {
      of(sku).reviews.push(text)
      return "published"
    }),
    tool("gift_card", "Buys a gift card and mails it", { email: "text", amount: "number" }, () => ({ code: "GC-1" })),
    tool("get_offer", "Reads an offer on the web", { offer_url: "text" }, () => "Offer ended.")
  ]
}
