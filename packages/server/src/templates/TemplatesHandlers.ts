/** The route of OS templates. */
import { InfraApi } from "@sluice/api/InfraApi"
import { templateToWire } from "@sluice/api/templates/TemplatesApi"
import { templates } from "@sluice/domain/machines/Template"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { shortPage } from "../http/Answer.ts"

export const templatesHandlers = HttpApiBuilder.group(InfraApi, "templates", (handlers) =>
  handlers.handle("list", shortPage(Effect.succeed(templates), templateToWire))
)
