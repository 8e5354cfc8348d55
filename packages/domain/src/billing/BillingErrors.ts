/** The errors of purchases that money does not allow. */
import { Schema } from "effect"

/** The environment's monthly budget is spent (interface: POST /jobs, checked before anything else). */
export class BudgetReached extends Schema.TaggedError<BudgetReached>()("BudgetReached", {
  environmentName: Schema.String
}) {}

/** The balance less the holds is below the required amount. Amounts in nano-USD. */
export class CreditInsufficient extends Schema.TaggedError<CreditInsufficient>()("CreditInsufficient", {
  required: Schema.BigInt,
  available: Schema.BigInt
}) {}
