/**
 * Renders the script that a machine boots with: set-up, the names of the variables, the command. Pure text.
 *
 * The command is base64-encoded, so that quotes, `$()`, here-documents and newlines arrive byte for byte. The script
 * never contains the values of variables: the machine gets them over its own channel, in a file that the first lines
 * read and remove. The script, base64-encoded, with the provider's own prologue, must fit `LAUNCH_SCRIPT_LIMIT_BYTES`
 * (decisions: Jobs).
 */
import * as Base64 from "effect/encoding/Base64"

export const LAUNCH_SCRIPT_LIMIT_BYTES = 16_384
/** Reserved for the lines that a provider puts before the script: mounts, its agent, device set-up. */
const PROVIDER_PROLOGUE_BYTES = 4_608

export interface LaunchScript {
  readonly command: string
  readonly envKeys: ReadonlyArray<string>
  readonly image: string | undefined
  readonly gpuCount: number
}

const setUp = `#!/usr/bin/env bash
# Sluice launch script. Variables come over the machine's own channel: /run/sluice/env, NUL-separated, read once.
set -u
export HOME=/workspace LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
mkdir -p /workspace /run/sluice && chmod 700 /run/sluice
while IFS= read -r -d '' pair; do export "$pair"; done < /run/sluice/env
rm -f /run/sluice/env
for name in $SLUICE_NAMES; do
  [ -n "\${!name+set}" ] || { echo "sluice: variable $name did not arrive" >&2; exit 125; }
done
cd /workspace || exit 125
printf %s "$SLUICE_COMMAND" | base64 -d > /run/sluice/command
unset SLUICE_COMMAND SLUICE_NAMES
`

const runCommand = `exec bash /run/sluice/command\n`

const runInContainer = `engine=$(command -v docker || command -v podman) || { echo "sluice: no container engine on this machine" >&2; exit 125; }
"$engine" pull --quiet "$SLUICE_IMAGE" >/dev/null || { echo "sluice: image $SLUICE_IMAGE could not be pulled" >&2; exit 125; }
gpus=()
if command -v nvidia-container-runtime >/dev/null 2>&1; then gpus=(--gpus all)
else echo "sluice: this machine has no GPU-capable container runtime: the command runs without GPUs" >&2; fi
shell=$("$engine" run --rm --entrypoint sh "$SLUICE_IMAGE" -c 'command -v bash || command -v sh')
env -0 | cut -z -d= -f1 | grep -zE '^[A-Za-z_][A-Za-z0-9_]*$' | tr '\\0' '\\n' > /run/sluice/names
exec "$engine" run --rm "\${gpus[@]}" --env-file /run/sluice/names -v /workspace:/workspace -w /workspace \\
  -v /run/sluice/command:/run/sluice/command:ro --entrypoint "$shell" "$SLUICE_IMAGE" /run/sluice/command
`

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns the whole script as a machine gets it, before base64. */
export const render = (script: LaunchScript): string =>
  `SLUICE_NAMES=${quote(script.envKeys.join(" "))}\nSLUICE_GPU_COUNT=${script.gpuCount}\n` +
  (script.image === undefined ? "" : `SLUICE_IMAGE=${quote(script.image)}\n`) +
  `SLUICE_COMMAND=${Base64.encode(script.command)}\n` +
  setUp +
  (script.image === undefined ? runCommand : runInContainer)

const encoder = new TextEncoder()
export const byteLength = (text: string): number => encoder.encode(text).length
const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3)

/** Returns the bytes that the script takes of the limit: base64-encoded, with the provider's prologue. */
export const sizeOf = (script: LaunchScript): number =>
  base64Length(PROVIDER_PROLOGUE_BYTES + byteLength(render(script)))

/** Returns the bytes of command that fit with these variables and this image; 0 if none do. */
export const commandRoom = (script: LaunchScript): number => {
  const raw = Math.floor(LAUNCH_SCRIPT_LIMIT_BYTES / 4) * 3
  const rest = raw - PROVIDER_PROLOGUE_BYTES - byteLength(render({ ...script, command: "" }))
  return Math.max(0, Math.floor(rest / 4) * 3)
}
