/** The SQL of images behind links. Each insert also deletes some expired images. */
import { Context, Effect, Layer, Schema } from "effect"
import { BatchSql } from "../../database/Clients.ts"
import { rowsOf } from "../../database/RowDecoder.ts"

export interface NewLink {
  readonly id: string
  readonly hash: string
  readonly workspaceId: string
  readonly bytes: Uint8Array
  readonly expiresAt: number
}

const MAX_DELETED = 20
const KEEP = `with gone as (delete from image_links where id = any(array(
    select id from image_links where expires_at <= $6::timestamptz limit ${MAX_DELETED} for update skip locked)))
  insert into image_links (id, hash, workspace_id, bytes, expires_at) values ($1, $2, $3, $4, $5)`
const FIND = "select bytes from image_links where hash = $1 and expires_at > $2"

const byteRows = rowsOf("ImageLinkStore", Schema.Struct({ bytes: Schema.Uint8Array }))

export class ImageLinkStore extends Context.Service<
  ImageLinkStore,
  {
    readonly keep: (link: NewLink, now: number) => Effect.Effect<void>
    readonly find: (hash: string, now: number) => Effect.Effect<Uint8Array | undefined>
  }
>()("@sluice/domain/inference/images/ImageLinkStore") {
  static readonly layer = Layer.effect(
    ImageLinkStore,
    Effect.map(BatchSql, (sql) =>
      ImageLinkStore.of({
        keep: ({ bytes, expiresAt, hash, id, workspaceId }, now) =>
          sql
            .unsafe(KEEP, [id, hash, workspaceId, bytes, new Date(expiresAt), new Date(now)])
            .pipe(Effect.asVoid, Effect.orDie),
        find: (hash, now) =>
          sql.unsafe(FIND, [hash, new Date(now)]).pipe(
            Effect.map((rows) => byteRows(rows)[0]?.bytes),
            Effect.orDie
          )
      })
    )
  )
}
