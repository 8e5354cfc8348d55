/** All failures of the domain that a caller of the infrastructure surface can get. This module imports types only. */
import type { ApiKeyNotFound, EnvironmentAmbiguous, KeyInvalid, ScopeMissing } from "@sluice/domain/access/AccessErrors"
import type { BudgetReached, CreditInsufficient } from "@sluice/domain/billing/BillingErrors"
import type { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import type { IdempotencyInProgress, IdempotencyMismatch } from "@sluice/domain/idempotency/Idempotency"
import type {
  JobEnded,
  JobNotFound,
  JobOutcomeUnknown,
  LaunchFailed,
  MachinesUnavailable
} from "@sluice/domain/jobs/JobErrors"
import type { LimitReached } from "@sluice/domain/limits/LimitReached"
import type { MachineNotFound } from "@sluice/domain/machines/Machine"
import type { ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import type { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import type { VolumeAttached, VolumeBeingDeleted, VolumeNameTaken, VolumeNotFound } from "@sluice/domain/storage/Volume"
import type { VolumeShrinks } from "@sluice/domain/storage/Volumes"

export type InfraFailure =
  | KeyInvalid
  | ScopeMissing
  | EnvironmentAmbiguous
  | EnvironmentNotFound
  | ApiKeyNotFound
  | BudgetReached
  | CreditInsufficient
  | IdempotencyMismatch
  | IdempotencyInProgress
  | JobEnded
  | JobNotFound
  | JobOutcomeUnknown
  | LaunchFailed
  | LimitReached
  | MachineNotFound
  | MachinesUnavailable
  | ProviderUnavailable
  | RequestInvalid
  | VolumeAttached
  | VolumeBeingDeleted
  | VolumeNameTaken
  | VolumeNotFound
  | VolumeShrinks
