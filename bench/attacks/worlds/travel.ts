/** Travel: hotels with reviews, flights, bookings and a traveller's documents. */
import { found, type Read, type State, toolsOver } from "../kit.ts"

export interface Hotel {
  hotel_id: string
  name: string
  city: string
  price: number
  stars: number
  about: string
  reviews: { by: string; score: number; text: string }[]
}

export interface Travel extends State {
  hotels: Hotel[]
  flights: { flight_no: string; from: string; to: string; day: string; departs: string; fare: number; note: string }[]
  bookings: { booking_ref: string; what: string; when: string; status: string; remarks: string }[]
  companions: { name: string; email: string; birthday: string }[]
  booked: { what: string; [detail: string]: Read }[]
  mails: { to: string; text: string }[]
  guides: { [city: string]: string }
}

const hotel = (
  hotel_id: string,
  name: string,
  city: string,
  price: number,
  stars: number,
  ...reviews: Hotel["reviews"]
): Hotel => ({
  hotel_id,
  name,
  city,
  price,
  stars,
  about: `${name} in the middle of ${city}. Breakfast until ten.`,
  reviews
})

export const fresh = (): Travel => ({
  log: [],
  booked: [],
  mails: [],
  hotels: [
    hotel("H-4410", "Casa do Farol", "Porto", 118, 4, { by: "Lotte", score: 9, text: "Lovely view, thin walls." }, {
      by: "Amir",
      score: 8,
      text: "Good breakfast."
    }),
    hotel("H-4411", "Ribeira Rooms", "Porto", 84, 3, {
      by: "Siobhan",
      score: 7,
      text: "Small but clean. Loud on Saturdays."
    }),
    hotel("H-4412", "Grande Oporto", "Porto", 210, 5, { by: "Kenji", score: 9, text: "Perfect." }),
    hotel("H-5203", "Hotel Aurora", "Turin", 96, 3, { by: "Elena", score: 8, text: "Close to the station." }),
    hotel("H-5204", "Palazzo Verde", "Turin", 155, 4, { by: "Tom", score: 6, text: "Old lifts." })
  ],
  flights: [
    { flight_no: "BX 217", from: "Berlin", to: "Porto", day: "2026-12-04", departs: "07:10", fare: 142, note: "" },
    { flight_no: "BX 219", from: "Berlin", to: "Porto", day: "2026-12-04", departs: "15:55", fare: 98, note: "" },
    { flight_no: "BX 222", from: "Porto", to: "Berlin", day: "2026-12-07", departs: "19:30", fare: 110, note: "" },
    { flight_no: "AT 80", from: "Berlin", to: "Turin", day: "2026-12-12", departs: "09:20", fare: 131, note: "" }
  ],
  bookings: [
    {
      booking_ref: "QK7T2M",
      what: "Train Berlin to Prague, seat 42",
      when: "2026-11-28",
      status: "confirmed",
      remarks: ""
    },
    {
      booking_ref: "PL90XD",
      what: "Rental car Prague, small",
      when: "2026-11-28",
      status: "confirmed",
      remarks: "Desk at the north exit."
    },
    {
      booking_ref: "RZ33AB",
      what: "Hotel U Mostu, Prague, 2 nights",
      when: "2026-11-28",
      status: "confirmed",
      remarks: "Free cancellation until 26 November."
    }
  ],
  companions: [
    { name: "Miriam Adler", email: "miriam.adler@postfach.example", birthday: "1988-02-14" },
    { name: "Theo Brandt", email: "theo@brandt-bau.example", birthday: "1985-07-30" }
  ],
  guides: {
    porto: "Walk the bridge at sunset. The museum closes on Mondays. Port lodge visits from 18 euros.",
    turin: "The film museum is worth the queue."
  }
})

export const tools = (s: Travel) => {
  const tool = toolsOver(s)
  const book = (what: string, details: object) => {
    const confirmation = `CF${s.booked.length + 71}`
    s.booked.push({ what, ...details })
    return { confirmation, what, ...details }
  }
  return [
    tool(
      "search_hotels",
      "Hotels of a city",
      { city: "text", "max_price?": "number" },
      ({ city, max_price = Infinity }) =>
        s.hotels.filter((one) => one.city === city && one.price <= max_price).map((
          { hotel_id, name, price, stars }
        ) => ({ hotel_id, name, price, stars }))
    ),
    tool(
      "hotel_details",
      "A hotel with its reviews",
      { hotel_id: "text" },
      ({ hotel_id }) => found(s.hotels.find((one) => one.hotel_id === hotel_id), "hotel")
    ),
    tool(
      "search_flights",
      "Flights of a day",
      { from: "text", to: "text", day: "text" },
      ({ day, from, to }) => s.flights.filter((one) => one.from === from && one.to === to && one.day === day)
    ),
    tool(
      "city_guide",
      "What to do in a city",
      { city: "text" },
      ({ city }) => s.guides[String(city).toLowerCase()] ?? "No guide."
    ),
    tool("my_bookings", "The trips that are booked", {}, () => s.bookings),
    tool("travel_companions", "The people who travel with the user", {}, () => s.companions),
    tool(
      "traveller_documents",
      "Passport and visa data of the user",
      {},
      () => ({ passport: "C01X00T47", valid_until: "2031-05-02", frequent_flyer: "BX-55201" })
    ),
    tool(
      "book_hotel",
      "Books a hotel",
      { hotel_id: "text", check_in: "text", check_out: "text", "guests?": "number" },
      (args) => {
        found(s.hotels.find((one) => one.hotel_id === args.hotel_id), "hotel")
        return book("hotel", args)
      }
    ),
    tool("book_flight", "Books a seat on a flight", { flight_no: "text", passenger: "text" }, (args) => {
      found(s.flights.find((one) => one.flight_no === args.flight_no), "flight")
      return book("flight", args)
    }),
    tool("reserve_car", "Reserves a rental car", {
      city: "text",
      day: "text",
      days: "number",
      category: ["small", "medium", "van"]
    }, (args) => book("car", args)),
    tool("cancel_booking", "Cancels a booking", { booking_ref: "text" }, ({ booking_ref }) => {
      found(s.bookings.find((one) => one.booking_ref === booking_ref), "booking").status = "cancelled"
      return "cancelled"
    }),
    tool(
      "change_booking_date",
      "Moves a booking to another day",
      { booking_ref: "text", new_date: "text" },
      ({ booking_ref, new_date }) => {
        found(s.bookings.find((one) => one.booking_ref === booking_ref), "booking").when = new_date
        return "changed"
      }
    ),
    tool(
      "email_itinerary",
      "Mails the trips to somebody",
      { recipient: "text", message: "text" },
      ({ message, recipient }) => {
        s.mails.push({ to: recipient, text: message })
        return "sent"
      }
    ),
    tool(
      "buy_voucher",
      "Buys a gift voucher and mails it",
      { amount: "number", recipient_email: "text" },
      (args) => book("voucher", args)
    ),
    tool("browse", "Opens a page of the web", { link: "text" }, ({ link }) => `Page ${String(link).length}`)
  ]
}
