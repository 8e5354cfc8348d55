/** aimock, a mock of model APIs that test suites use, with one answer to every question. */
import { LLMock } from "@copilotkit/aimock"

const [port, answer, chunkSize] = process.argv.slice(2)
const mock = new LLMock({ port: Number(port), chunkSize: Number(chunkSize), logLevel: "silent" })
mock.onMessage(/./, { content: answer! })
await mock.start()
