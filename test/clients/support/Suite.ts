/** The type of a client suite (one test for each feature of the client) and the checks that suites share. */
import { expect } from "vitest"
import { z } from "zod"
import type { ClientName, FeatureOf } from "./Features.ts"
import type { Customer } from "./Customer.ts"
import { FLAKY, type Host } from "./Host.ts"

/** The part of a customer that a client needs. */
export interface Who {
  readonly baseURL: string
  readonly apiKey: string
}

export type Check = (host: Host) => Promise<void>
export type Suite<C extends ClientName> = { readonly [F in FeatureOf<C>]: Check }

export const RIVERS = "Tell me about rivers."
/** A question: simulated models call the tool that shares a word with it. */
export const WEATHER = "What is the weather in Lisbon?"
export const SUNNY = "It is sunny"
/** The model's answer after its tool returned `SUNNY`. */
export const TOOL_SAID = `The tool answered: ${SUNNY}.`
export const City = z.object({ city: z.string(), people: z.number().int().min(1).max(9), mail: z.email() })
export const Place = z.object({ city: z.string() })
/** The text of speech and transcription tests. */
export const SPOKEN = "The harbour is quiet, and the boats wait."
/** One red pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

/** The fields of an error that every client must expose. */
export interface Refusal {
  readonly status: number | undefined
  readonly message: string
}

/** A small request through a client, and a reader of its errors. */
export interface Asking {
  readonly ask: (who: Who, model: string, wrong: boolean) => PromiseLike<unknown>
  /** Also checks the error's class. */
  readonly read: (error: unknown, status: number) => Refusal
}

/** The error of `run`. */
export const failure = async (run: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error("It did not fail")
}

/** With one retry a client gets its answer from a model that fails at first. The failure costs nothing. */
export const retried =
  (ask: (who: Who, model: string, prompt: string) => PromiseLike<string | undefined | null>): Check =>
  async (host) => {
    const who = await host.customer()
    // Unique to this conversation.
    const word = who.apiKey.slice(-12)
    expect(await ask(who, FLAKY, `say ${word}`)).toBe(word)
    expect(await who.bill()).toMatchObject({ requests: 1, held: 0 })
    expect((await who.bill()).cost).toBeGreaterThan(0)
  }

/** The five refusals that each client must report to its caller. They cost nothing. */
export const refusals = ({ ask, read }: Asking) => {
  const refused = async (run: () => PromiseLike<unknown>, status: number, words: string) => {
    const refusal = read(await failure(run), status)
    expect(refusal.status).toBe(status)
    expect(refusal.message).toContain(words)
  }
  const free = async (who: Customer) => expect(await who.bill()).toMatchObject({ requests: 0, cost: 0, held: 0 })
  return {
    wrong: async (host: Host) => {
      const who = await host.customer()
      await refused(() => ask(who, "sluice-small", true), 400, "temperature")
      await free(who)
    },
    unknownKey: (host: Host) =>
      refused(
        () => ask({ baseURL: host.baseURL, apiKey: "svc_live_nobody" }, "sluice-small", false),
        401,
        "Send a valid, active API key"
      ),
    noMoney: async (host: Host) => {
      const who = await host.customer(0)
      await refused(() => ask(who, "sluice-small", false), 402, "Add credit")
      await free(who)
    },
    unknownModel: async (host: Host) => {
      const who = await host.customer()
      await refused(() => ask(who, "sluice-unknown", false), 404, "There is no model 'sluice-unknown'")
      await free(who)
    },
    tooMany: async (host: Host) => {
      const who = await host.customer()
      const slow = { baseURL: host.baseURL, apiKey: await who.keyForOne() }
      await ask(slow, "sluice-small", false)
      await refused(() => ask(slow, "sluice-small", false), 429, "1 requests a minute")
      expect((await who.bill()).requests).toBe(1)
    }
  } as const
}
export const isPng = (file: Uint8Array): boolean =>
  Buffer.from(file.subarray(0, 8)).toString("hex") === "89504e470d0a1a0a"
