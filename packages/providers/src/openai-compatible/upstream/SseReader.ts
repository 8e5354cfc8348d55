/** Server-sent events from bytes as they come: characters and lines may be cut anywhere, one event has MAX_EVENT at most. */
import { makeParser } from "effect/encoding/Sse"
import { StringDecoder } from "node:string_decoder"

/** UTF-16 units. A chunk with a whole call of a tool is some kilobytes. */
const MAX_EVENT = 4 * 1024 * 1024

export class SseReader {
  private readonly decoder = new StringDecoder("utf8")
  private readonly parser: ReturnType<typeof makeParser>

  /** `hear` gets the data of each event; `event` is its name, `message` where it has none. */
  constructor(hear: (data: string, event: string) => void) {
    this.parser = makeParser(
      (event) => {
        if (event._tag === "Event") hear(event.data, event.event)
      },
      { maxEventSize: MAX_EVENT }
    )
  }

  /** False: an event is larger than any can be. */
  feed(bytes: Buffer): boolean {
    return this.parser.feed(this.decoder.write(bytes)) === undefined
  }

  /** The last event may lack its empty line. */
  end(): boolean {
    return this.parser.feed(`${this.decoder.end()}\n\n`) === undefined
  }
}
