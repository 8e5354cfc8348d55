/** Serves aimock, a mock of model APIs for test suites, with one answer to every request. */
import { LLMock } from "@copilotkit/aimock"

const [port, answer, chunkSize] = process.argv.slice(2)
const mock = new LLMock({ port: Number(port), chunkSize: Number(chunkSize), logLevel: "silent" })
mock.onMessage(/./, { content: answer! })
await mock.start()
