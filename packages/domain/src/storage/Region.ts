/** A place where volumes live and machines run: what `GET /storage/regions` lists (interface: Storage region). */
export interface Region {
  readonly id: string
  readonly name: string
  readonly provider: string
}
