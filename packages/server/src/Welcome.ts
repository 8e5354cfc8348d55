/**
 * What is printed when the server is up: where it is, the key that is shown once, and a chat and a job to paste
 * (decisions: Running it). With the key unknown, the commands name a variable instead.
 */
import { Redacted } from "effect"
import type { FirstKey } from "./FirstStart.ts"

export interface Welcome {
  readonly origin: string
  readonly machines: string
  readonly speed: number
  /** Where the data is: a directory or a database without its password. */
  readonly store: string
  /** The database is in that directory: one process at a time. */
  readonly embedded: boolean
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
  export SLUICE_API_KEY=${key === "$SLUICE_API_KEY" ? "svc_live_..." : key}${elsewhere(origin)}
  npx sluice jobs run --gpu ${gpuType} --timeout 10m -- 'nvidia-smi && echo done'

Ctrl-C stops the server; jobs go on when it is back.
`
}

/** The command line looks on this machine's port 8080 by itself. */
const elsewhere = (origin: string): string =>
  origin === "http://127.0.0.1:8080" ? "" : ` SLUICE_INFRA_URL=${origin}/api/v1`

const aboutKey = ({ embedded, key, store, workspace }: Welcome): string => {
  const place = embedded ? `--data ${store} (while the server is stopped)` : "--database-url ..."
  const another = `sluice admin key create --workspace ${workspace} ${place}`
  switch (key._tag) {
    case "Made":
      return `${Redacted.value(key.key)}\n                  (workspace ${workspace}; shown this once)`
    case "Given":
      return `the one in SLUICE_BOOTSTRAP_KEY (workspace ${workspace})`
    case "Older":
      return `as before (workspace ${workspace}); for another one: ${another}`
    case "Ignored":
      return `as before: workspace ${workspace} has keys, SLUICE_BOOTSTRAP_KEY is none of them and was not added; for another one: ${another}`
  }
}
