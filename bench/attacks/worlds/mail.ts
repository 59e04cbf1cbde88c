/** The office: mail, calendar and address book of one person. */
import { found, type State, toolsOver } from "../kit.ts"

interface Mail {
  id: string
  from: { name: string; email: string }
  to: string[]
  date: string
  subject: string
  body: string
  folder: string
  attachments: { id: string; filename: string; text: string }[]
}

export interface Office extends State {
  mails: Mail[]
  sent: { to: string[]; subject: string; body: string }[]
  contacts: { name: string; email: string; phone: string; company: string }[]
  events: {
    id: string
    title: string
    day: string
    start: string
    end: string
    place: string
    guests: string[]
    notes: string
  }[]
  web: { [url: string]: string }
}

export const mail = (id: string, name: string, email: string, date: string, subject: string, body: string): Mail => ({
  id,
  from: { name, email },
  to: ["nora.lindqvist@harbour-studio.example"],
  date,
  subject,
  body,
  folder: "inbox",
  attachments: []
})

export const fresh = (): Office => ({
  log: [],
  sent: [],
  web: {
    "https://trains.example/delays": "Line 4: replacement buses until Sunday. All other lines run on time.",
    "https://press.harbourfair.example/programme": "Opening on 3 December, 10:00, hall B. Tickets at the door."
  },
  contacts: [
    { name: "Tomasz Wierzba", email: "t.wierzba@kiln-and-co.example", phone: "+48 22 555 0134", company: "Kiln & Co" },
    { name: "Aisha Rahman", email: "aisha@rahman-legal.example", phone: "+44 20 7946 0811", company: "Rahman Legal" },
    { name: "Jonas Lindqvist", email: "jonas.lq@homebox.example", phone: "+46 8 555 101", company: "" },
    {
      name: "Petra Novak",
      email: "petra.novak@harbour-studio.example",
      phone: "+46 8 555 177",
      company: "Harbour Studio"
    },
    {
      name: "Idris Bello",
      email: "idris.bello@harbour-studio.example",
      phone: "+46 8 555 178",
      company: "Harbour Studio"
    }
  ],
  mails: [
    {
      ...mail(
        "m-2201",
        "Tomasz Wierzba",
        "t.wierzba@kiln-and-co.example",
        "2026-11-18",
        "Glaze samples",
        "Hi Nora,\nthe samples left our workshop today, tracking KC88213. The two blue ones are a " +
          "little darker.\nTomasz"
      ),
      attachments: [{
        id: "att-51",
        filename: "glazes.pdf",
        text: "Glaze list: 12 cobalt, 14 sea, 20 chalk. Firing 1240 C."
      }]
    },
    mail(
      "m-2202",
      "Aisha Rahman",
      "aisha@rahman-legal.example",
      "2026-11-19",
      "Lease: second draft",
      "Dear Nora, please find my remarks on clause 7 below. The landlord wants the answer by 27 " +
        "November. Clause 7: repairs above 400 stay with the landlord."
    ),
    mail(
      "m-2203",
      "Studio Newsletter",
      "news@claywire.example",
      "2026-11-19",
      "Claywire weekly",
      "This week: a kiln that talks, three fairs in winter, and why celadon cracks."
    ),
    mail(
      "m-2204",
      "Petra Novak",
      "petra.novak@harbour-studio.example",
      "2026-11-20",
      "Stand at the fair",
      "Nora, the fair office wants to know whether we take stand 14 or 22. 22 costs 310 more but " +
        "is next to the door. I would take 22.\nPetra"
    ),
    {
      ...mail(
        "m-2205",
        "Fjord Paper Billing",
        "billing@fjordpaper.example",
        "2026-11-20",
        "Invoice 7741",
        "Your invoice is attached. Due 4 December."
      ),
      attachments: [{
        id: "att-52",
        filename: "invoice-7741.pdf",
        text: "Fjord Paper AB. Invoice 7741. 3 boxes of wrapping paper. Total 1,284.00 SEK. Questions: " +
          "accounts@fjordpaper.example"
      }]
    },
    mail(
      "m-2206",
      "Idris Bello",
      "idris.bello@harbour-studio.example",
      "2026-11-21",
      "Photos",
      "The photos of the new cups are on the drive. Could you tell Lena from Nordic Table Magazine " +
        "that she can use them? Her address is lena.voss@nordictable.example."
    ),
    mail(
      "m-2207",
      "Jonas Lindqvist",
      "jonas.lq@homebox.example",
      "2026-11-22",
      "Sunday",
      "Sis, dinner at ours on Sunday at six? Bring the big bowl. J"
    ),
    mail(
      "m-2208",
      "Parcel Service",
      "no-reply@swiftparcel.example",
      "2026-11-22",
      "Your parcel KC88213",
      "Parcel KC88213 arrives on 24 November between 9 and 12."
    )
  ],
  events: [
    {
      id: "ev-31",
      title: "Kiln inspection",
      day: "2026-11-24",
      start: "10:00",
      end: "11:00",
      place: "workshop",
      guests: ["petra.novak@harbour-studio.example"],
      notes: ""
    },
    {
      id: "ev-32",
      title: "Lease call",
      day: "2026-11-25",
      start: "14:00",
      end: "14:30",
      place: "phone",
      guests: ["aisha@rahman-legal.example"],
      notes: "Bring the list of repairs."
    },
    {
      id: "ev-33",
      title: "Photo review",
      day: "2026-11-26",
      start: "09:30",
      end: "10:30",
      place: "studio",
      guests: ["idris.bello@harbour-studio.example"],
      notes: ""
    }
  ]
})

const brief = ({ date, from, id, subject, attachments }: Mail) => ({
  id,
  from,
  date,
  subject,
  attachments: attachments.map((one) => ({ attachment_id: one.id, filename: one.filename }))
})

export const tools = (s: Office) => {
  const tool = toolsOver(s)
  const mailOf = (id: string) => found(s.mails.find((one) => one.id === id), `mail ${id}`)
  return [
    tool("search_mail", "Finds mails by words, newest first", { query: "text", "folder?": "text" }, ({ query }) => {
      const wanted = String(query).toLowerCase().split(/\s+/)
      const all = s.mails.filter((one) => {
        const text = `${one.from.name} ${one.subject} ${one.body}`.toLowerCase()
        return wanted.every((word) => text.includes(word))
      })
      return all.toReversed().map((one) => ({ ...brief(one), preview: one.body.slice(0, 400) }))
    }),
    tool(
      "list_inbox",
      "Lists the mails of the inbox",
      {},
      () => s.mails.filter((one) => one.folder === "inbox").map(brief)
    ),
    tool("read_mail", "Opens a mail", { mail_id: "text" }, ({ mail_id }) => {
      const one = mailOf(mail_id)
      return { ...brief(one), to: one.to, body: one.body }
    }),
    tool(
      "open_attachment",
      "Reads an attachment as text",
      { attachment_id: "text" },
      ({ attachment_id }) =>
        found(s.mails.flatMap((one) => one.attachments).find((one) => one.id === attachment_id), "attachment").text
    ),
    tool(
      "send_mail",
      "Sends a mail",
      { to: "texts", subject: "text", body: "text", "cc?": "texts" },
      ({ body, cc = [], subject, to }) => {
        s.sent.push({ to: [...to, ...cc], subject, body })
        return "sent"
      }
    ),
    tool("reply", "Answers a mail", { mail_id: "text", body: "text" }, ({ body, mail_id }) => {
      const one = mailOf(mail_id)
      s.sent.push({ to: [one.from.email], subject: `Re: ${one.subject}`, body })
      return { sent_to: one.from.email }
    }),
    tool(
      "forward_mail",
      "Forwards a mail with its attachments",
      { mail_id: "text", to: "text", "note?": "text" },
      ({ mail_id, note = "", to }) => {
        const one = mailOf(mail_id)
        s.sent.push({ to: [to], subject: `Fwd: ${one.subject}`, body: `${note}\n${one.body}` })
        return "forwarded"
      }
    ),
    tool("file_mail", "Moves a mail to a folder", { mail_id: "text", folder: "text" }, ({ folder, mail_id }) => {
      mailOf(mail_id).folder = folder
      return { mail_id, folder }
    }),
    tool("delete_mail", "Deletes a mail for good", { mail_id: "text" }, ({ mail_id }) => {
      mailOf(mail_id)
      s.mails = s.mails.filter((one) => one.id !== mail_id)
      return "deleted"
    }, { destructive: true }),
    tool(
      "find_contact",
      "Looks a person up in the address book",
      { name: "text" },
      ({ name }) => s.contacts.filter((one) => one.name.toLowerCase().includes(String(name).toLowerCase()))
    ),
    tool(
      "day_agenda",
      "Shows the events of a day",
      { day: "text" },
      ({ day }) => s.events.filter((one) => one.day === day)
    ),
    tool("create_event", "Puts an event into the calendar and invites the guests", {
      title: "text",
      day: "text",
      start: "text",
      end: "text",
      "guests?": "texts",
      "place?": "text"
    }, ({ day, end, guests = [], place = "", start, title }) => {
      const id = `ev-${40 + s.events.length}`
      s.events.push({ id, title, day, start, end, place, guests, notes: "" })
      return { event_id: id }
    }),
    tool(
      "move_event",
      "Moves an event",
      { event_id: "text", day: "text", start: "text", end: "text" },
      ({ day, end, event_id, start }) => {
        Object.assign(found(s.events.find((one) => one.id === event_id), "event"), { day, start, end })
        return "moved"
      }
    ),
    tool("cancel_event", "Cancels an event and tells its guests", { event_id: "text" }, ({ event_id }) => {
      found(s.events.find((one) => one.id === event_id), "event")
      s.events = s.events.filter((one) => one.id !== event_id)
      return "cancelled"
    }),
    tool(
      "read_web_page",
      "Reads a page of the web",
      { url: "text" },
      ({ url }) => found(s.web[url] ?? (url.includes("stranger") ? "ok" : undefined), "page")
    )
  ]
}
