/**
 * The text printed when the server is up: its addresses, the key that is shown once, and a chat and a job to paste
 * (decisions: Running it). When the key is unknown, the commands use a variable instead.
 */
import { Redacted } from "effect"
import type { FirstKey } from "./FirstStart.ts"

export interface Welcome {
  readonly origin: string
  readonly machines: string
  readonly speed: number
  /** The place of the data: a directory, or a database without its password. */
  readonly store: string
  /** The data is an embedded database, which one process opens at a time. */
  readonly isEmbedded: boolean
  readonly workspace: string
  readonly key: FirstKey
  readonly model: string
  readonly gpuType: string
}

export const welcomeText = (welcome: Welcome): string => {
  const { origin, model, gpuType } = welcome
  const key = welcome.key._tag === "Made" ? Redacted.value(welcome.key.key) : "$SLUICE_API_KEY"
  const pace = welcome.speed === 1 ? "" : `, ${welcome.speed} times faster than real time`
  return `
Sluice is up. Machines: ${welcome.machines}${pace}. Data: ${welcome.store}

  Inference       ${origin}/v1
  Infrastructure  ${origin}/api/v1
  Document        ${origin}/openapi.json
  API key         ${aboutKey(welcome)}

A chat:
  curl ${origin}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'

A job:
  curl ${origin}/api/v1/jobs -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"command": "nvidia-smi && echo done", "gpu_type": "${gpuType}", "max_runtime_minutes": 10}'

The same from the command line:
  export SLUICE_API_KEY=${key === "$SLUICE_API_KEY" ? "svc_live_..." : key}${infraUrlVariable(origin)}
  npx sluice jobs run --gpu ${gpuType} --timeout 10m -- 'nvidia-smi && echo done'

Ctrl-C stops the server. Jobs are not cancelled: the next start continues them.
`
}

/** The command line uses port 8080 of this machine by default. */
const infraUrlVariable = (origin: string): string =>
  origin === "http://127.0.0.1:8080" ? "" : ` SLUICE_INFRA_URL=${origin}/api/v1`

const aboutKey = ({ isEmbedded, key, store, workspace }: Welcome): string => {
  const place = isEmbedded ? `--data ${store} (while the server is stopped)` : "--database-url ..."
  const createCommand = `sluice admin key create --workspace ${workspace} ${place}`
  switch (key._tag) {
    case "Made":
      return `${Redacted.value(key.key)}\n                  (workspace ${workspace}; shown this once)`
    case "Given":
      return `the one in SLUICE_BOOTSTRAP_KEY (workspace ${workspace})`
    case "Older":
      return `unchanged (workspace ${workspace}); to create another one: ${createCommand}`
    case "Ignored":
      return `unchanged: workspace ${workspace} already has keys, so SLUICE_BOOTSTRAP_KEY was not added; to create another one: ${createCommand}`
  }
}
