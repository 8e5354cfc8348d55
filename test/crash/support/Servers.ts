/** Servers of a test file, each on a port of its own; none outlives the file. */
import { afterAll } from "vitest"
import { freePort, type ServerOptions, ServerProcess, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

/** Gives what makes a server over a data directory, and a database where one is named; it is not started. */
export const servers = (options: Pick<ServerOptions, "speed" | "main">) => {
  const running: Array<ServerProcess> = []
  afterAll(() => Promise.all(running.map((server) => server.end("SIGKILL"))))
  return async (data: string, databaseUrl?: string) => {
    const database = databaseUrl === undefined ? {} : { databaseUrl }
    const server = new ServerProcess({ ...options, ...database, port: await freePort(), data, key: TEST_KEY })
    running.push(server)
    return server
  }
}
