/** A test's own web server, which records its requests; and a client that reaches only it on this machine. */
import { Allowance } from "@sluice/domain/inference/images/ImageFetch"
import type { FetchFailed } from "@sluice/server/fetch/FetchFailed"
import type { Fetched, FetchRequirements } from "@sluice/server/fetch/PinnedRequest"
import { isPublic } from "@sluice/server/fetch/PublicAddress"
import { SafeFetch, type SafeFetchOptions } from "@sluice/server/fetch/SafeFetch"
import { Context, Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

export interface Origin {
  readonly port: number
  /** Requested paths. */
  readonly asked: Array<string>
  readonly connections: () => number
}

export interface Listening {
  /** Default 127.0.0.1. */
  readonly host?: string
  readonly port?: number
  /** The certificate's name; the server then uses TLS. */
  readonly certificate?: { readonly key: string; readonly cert: string }
}

/** Listens until the scope ends. */
export const origin = (handler: http.RequestListener, { certificate, host = "127.0.0.1", port = 0 }: Listening = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<string> = []
      let connections = 0
      const listener: http.RequestListener = (request, response) => {
        asked.push(request.url ?? "")
        handler(request, response)
      }
      const server = certificate === undefined ? http.createServer(listener) : https.createServer(certificate, listener)
      server.on("connection", () => connections++)
      await new Promise<void>((resolve) => server.listen(port, host, resolve))
      const given = (server.address() as AddressInfo).port
      return { server, origin: { port: given, asked, connections: () => connections } satisfies Origin }
    }),
    ({ server }) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          })
      )
  ).pipe(Effect.map((one) => one.origin))

/** Answers with the pixel. */
export const pixel: http.RequestListener = (_, response) => {
  response.writeHead(200, { "content-type": "image/png" }).end(PIXEL)
}

/** A certificate for some names, signed by itself. */
export const certificateFor = (names: ReadonlyArray<string>) => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-certificate-"))
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
  const subject = ["-subj", `/CN=${names[0]}`, "-addext", `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`]
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
  execFileSync("openssl", [...made, "-keyout", key!, "-out", cert!, ...subject], { stdio: "ignore" })
  const pair = { key: readFileSync(key!, "utf8"), cert: readFileSync(cert!, "utf8") }
  rmSync(directory, { recursive: true })
  return pair
}

/** 127.0.0.1 counts as public here, 127.0.0.2 does not. */
export const OUTSIDE = (address: string) => address === "127.0.0.1" || isPublic(address)

export interface Asking extends Partial<FetchRequirements> {
  readonly owner?: string
}

export type Get = (url: string, asking?: Asking) => Effect.Effect<Fetched, FetchFailed>

/** The client; it requests images of up to 1 MB unless a test says otherwise. */
export const client = (options: Partial<SafeFetchOptions>) =>
  Effect.map(Layer.build(SafeFetch.layer({ hasPrivateTargets: false, ...options })), (context): Get => {
    const { get } = Context.get(context, SafeFetch)
    return (url, { owner = "alice", ...wanted } = {}) =>
      get(owner, url, {
        accept: "image/*",
        accepts: (type) => type.startsWith("image/"),
        allowance: new Allowance(1_000_000),
        ...wanted
      })
  })

/** The reason of a failed fetch. */
export const reasonOf = (fetched: Effect.Effect<Fetched, FetchFailed>) =>
  Effect.match(fetched, { onSuccess: () => "fetched" as const, onFailure: ({ reason }) => reason })
