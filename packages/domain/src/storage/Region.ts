/**
 * A region, in which volumes are stored and machines run: an entry of `GET /storage/regions` (interface: Storage
 * region).
 */
export interface Region {
  readonly id: string
  readonly name: string
  readonly provider: string
}
