/** The OS templates from which a machine can boot: the entries of `GET /templates`. */
export interface Template {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly gpuReady: boolean
}

export const DEFAULT_TEMPLATE = "ubuntu-devbox"

export const templates: ReadonlyArray<Template> = [
  {
    id: DEFAULT_TEMPLATE,
    name: "Ubuntu devbox",
    description: "Ubuntu with CUDA drivers, Python and the usual tools.",
    gpuReady: true
  },
  { id: "ubuntu-minimal", name: "Ubuntu minimal", description: "Plain Ubuntu with bash and drivers.", gpuReady: true }
]
