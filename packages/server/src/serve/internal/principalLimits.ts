/** Limits of what one principal may ask of this process. */

/** What one principal may ask of this process. @category models @since 0.1.0 */
export interface PrincipalOptions {
  /**
   * How many requests a minute. A principal that was silent for a minute may send as many at once. Default: no limit.
   */
  readonly requestsPerMinute?: number
  /**
   * Asked before a request begins a turn: returns why it may not, and when it may, in seconds from now. `Budget.spent`
   * answers it for what a principal has spent. Default: it always may.
   */
  readonly mayBegin?: (principal: string) => Busy | undefined | PromiseLike<Busy | undefined>
  /** How many requests may be open at the same time, with streams that are read. Default: no limit. */
  readonly openRequests?: number
}

/** Why a request is not taken, and when it may be, in seconds from now. @category models @since 0.1.0 */
export interface Busy {
  readonly why: string
  readonly retryAfter: number
}

/** What a principal has done. */
interface Account {
  /** How many requests it may still send, and since when. */
  left: number
  at: number
  open: number
}

/** How many principals are remembered. Beyond that, those that have nothing open and may send as many as others go. */
const maxAccounts = 10_000

/** A class, because it is a state. */
export class PrincipalLimits {
  private readonly options: PrincipalOptions
  private readonly now: () => number
  private readonly accounts = new Map<string, Account>()

  constructor(options: PrincipalOptions, now: () => number = () => performance.now()) {
    this.options = options
    this.now = now
  }

  /** Counts a request. The function `end` says that it has ended; calling it twice is once. */
  open(principal: string): { readonly end: () => void } | Busy {
    const { openRequests = Infinity, requestsPerMinute = Infinity } = this.options
    const account = this.accountOf(principal)
    if (account.open >= openRequests) {
      return { why: `${openRequests} requests are open: end one of them`, retryAfter: 1 }
    }
    if (account.left < 1) {
      const seconds = Math.ceil((1 - account.left) * 60 / requestsPerMinute)
      return { why: `more than ${requestsPerMinute} requests a minute: send it again later`, retryAfter: seconds }
    }
    account.left--
    account.open++
    let isOpen = true
    const end = () => {
      if (isOpen) account.open--
      isOpen = false
    }
    return { end }
  }

  /** Returns why the principal may not begin a turn now, if that is so. */
  async whyNot(principal: string): Promise<Busy | undefined> {
    // The answer of a program without types may be anything.
    const busy: unknown = await this.options.mayBegin?.(principal)
    if (busy === undefined || busy === null || busy === true) return undefined
    const { retryAfter, why } = Object(busy) as Partial<Busy>
    return {
      why: typeof why === "string" ? why : "this principal may not begin a turn now",
      retryAfter: typeof retryAfter === "number" ? retryAfter : 60
    }
  }

  private accountOf(principal: string): Account {
    const { requestsPerMinute: max = Infinity } = this.options
    const now = this.now()
    const known = this.accounts.get(principal)
    if (known === undefined) {
      if (this.accounts.size >= maxAccounts) this.forget(now)
      const account = { left: max, at: now, open: 0 }
      this.accounts.set(principal, account)
      return account
    }
    known.left = leftAt(known, max, now)
    known.at = now
    return known
  }

  private forget(now: number): void {
    const { requestsPerMinute: max = Infinity } = this.options
    for (const [principal, account] of this.accounts) {
      if (account.open === 0 && leftAt(account, max, now) >= max) this.accounts.delete(principal)
    }
  }
}

const leftAt = ({ at, left }: Account, max: number, now: number): number =>
  max === Infinity ? Infinity : Math.min(max, left + (now - at) * max / 60_000)
