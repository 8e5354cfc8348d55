/** A customer with a key and credit, who reads their bill from the server's API. */
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"

export interface Bill {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** USD. */
  readonly cost: number
  readonly held: number
}

interface UsageAnswer {
  readonly total_requests: number
  readonly total_prompt_tokens: number
  readonly total_completion_tokens: number
  readonly total_cost: number
}

interface BalanceAnswer {
  readonly balance_usd: number
  readonly held_usd: number
}

export class Customer {
  readonly baseURL: string
  readonly apiKey: string
  private readonly origin: string
  private readonly credit: number

  constructor(origin: string, apiKey: string, credit: number) {
    this.origin = origin
    this.baseURL = `${origin}/v1`
    this.apiKey = apiKey
    this.credit = credit
  }

  /** The charge so far. Checks that balance and usage agree. */
  async bill(): Promise<Bill> {
    const { left, ...bill } = await this.look()
    expect(nano(this.credit) - nano(left)).toBe(nano(bill.cost))
    return bill
  }

  /** The bill once no hold is open: an abandoned answer settles soon, not at once. */
  async settled(requests: number): Promise<Bill> {
    for (let i = 0; i < 500; i++) {
      const now = await this.look()
      if (now.held === 0 && now.requests === requests) return this.bill()
      await sleep(20)
    }
    throw new Error(`still ${JSON.stringify(await this.look())}, not ${requests} requests`)
  }

  private async look(): Promise<Bill & { readonly left: number }> {
    const balance = await this.ask<BalanceAnswer>("GET", "/billing/balance")
    const usage = await this.ask<UsageAnswer>("GET", "/billing/usage")
    return {
      requests: usage.total_requests,
      promptTokens: usage.total_prompt_tokens,
      completionTokens: usage.total_completion_tokens,
      cost: usage.total_cost,
      held: balance.held_usd,
      left: balance.balance_usd
    }
  }

  /** Another key of the same workspace, limited to one request a minute. */
  async keyForOne(): Promise<string> {
    const { key } = await this.ask<{ readonly key: string }>("POST", "/api-keys", { name: "one", rate_limit_rpm: 1 })
    return key
  }

  private async ask<A>(method: string, path: string, body?: object): Promise<A> {
    const response = await fetch(`${this.origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    const { data } = (await response.json()) as { readonly data: A }
    return data
  }
}

/** An amount of the wire in whole nano-USD. */
export const nano = (usd: number): number => Math.round(usd * 1e9)
