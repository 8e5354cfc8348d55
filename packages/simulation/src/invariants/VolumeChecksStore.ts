/** What a look can find broken of volumes, as `StepChecksStore` says it: w what the world holds, d a deletion that is to be done there. */
import type { StepCheck } from "./InvariantStore.ts"
import { GONE, NOW, SWEPT } from "./InvariantStore.ts"
import { check } from "./StepChecksStore.ts"

export const volumeSteps = {
  volumeIsHeldByOne: [
    check(
      "volume",
      `m.id is null or m.status in ${GONE} or m.volume_id is distinct from v.id`,
      `'volume ' || v.id || ' is attached to machine ' || v.attached_to || ', which is ' || coalesce(m.status, 'unknown')`
    ),
    check("mounted", `x.n > 1`, `'volume ' || x.volume_id || ' is mounted by ' || x.n || ' machines that run'`)
  ],
  deletedIsGone: [
    check(
      "held",
      `v.id is null and d.id is null`,
      `'the world holds volume ' || w.volume_id || ', which no row knows'`
    ),
    check(
      "deletion",
      `d.deleted_at < ${NOW} - 3 * (${NOW} - ${SWEPT})`,
      `'volume ' || d.id || ' was deleted at ' || d.deleted_at || ' and its provider has not deleted it'`
    )
  ]
} satisfies Record<string, ReadonlyArray<StepCheck>>
