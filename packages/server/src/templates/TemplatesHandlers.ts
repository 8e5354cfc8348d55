/** The route of OS templates. */
import { InfraApi } from "@sluice/api/InfraApi"
import { shortListOf } from "@sluice/api/infra/Envelope"
import { templateToWire } from "@sluice/api/templates/TemplatesApi"
import { templates } from "@sluice/domain/machines/Template"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer } from "../http/Answer.ts"

export const templatesHandlers = HttpApiBuilder.group(InfraApi, "templates", (handlers) =>
  handlers.handle("list", ({ query }) =>
    answer(Effect.succeed(templates), (all, requestId) => shortListOf(all, query, templateToWire, requestId))
  )
)
