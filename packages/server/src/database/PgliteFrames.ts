/**
 * Encodes and decodes the few frames of the PostgreSQL wire protocol that the PGlite bridge writes or inspects itself.
 * All other frames pass as bytes. Nothing is validated: both ends of the bridge belong to this server.
 */

/** Returns one message: type, length, body. A string body ends with NUL. */
export const message = (type: string, body: Buffer | string = Buffer.alloc(0)): Buffer => {
  const bytes = typeof body === "string" ? Buffer.from(body + "\0") : body
  const head = Buffer.alloc(5)
  head.write(type, 0, 1, "latin1")
  head.writeInt32BE(4 + bytes.length, 1)
  return Buffer.concat([head, bytes])
}

export const BackendType = { readyForQuery: 0x5a, notification: 0x41, error: 0x45 } as const

/** The status byte of ReadyForQuery. Other values: 'T' (in a transaction) and 'E' (in a failed one). */
export const TransactionStatus = { idle: 0x49 } as const

export const readyStatus = (bytes: Buffer, at: number): number => bytes[at + 5]!

/** Returns the message of an error that ends the backend; undefined for an error after which the backend continues. */
export const lastWords = (bytes: Buffer, at: number): string | undefined => {
  const fields = new Map<string, string>()
  for (let from = at + 5; bytes[from] !== 0; from = bytes.indexOf(0, from) + 1)
    fields.set(String.fromCharCode(bytes[from]!), bytes.toString("utf8", from + 1, bytes.indexOf(0, from)))
  const severity = fields.get("V")
  return severity === "FATAL" || severity === "PANIC" ? `${severity}: ${fields.get("M") ?? "unknown"}` : undefined
}

const SERVER_PARAMETERS = [
  ["server_version", "18.0"],
  ["client_encoding", "UTF8"],
  ["DateStyle", "ISO, MDY"],
  ["integer_datetimes", "on"],
  ["standard_conforming_strings", "on"],
  ["TimeZone", "UTC"]
] as const

/** The server's first reply to a client: authentication done, parameters, the connection's id, ready. */
export const hello = (connectionId: number): Buffer => {
  const key = Buffer.alloc(8)
  key.writeInt32BE(connectionId, 0)
  return Buffer.concat([
    message("R", Buffer.alloc(4)),
    ...SERVER_PARAMETERS.map(([name, value]) => message("S", `${name}\0${value}`)),
    message("K", key),
    message("Z", Buffer.from("I"))
  ])
}
