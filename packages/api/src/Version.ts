/** The version of Sluice's packages, which is not the version of the interface. */
export const VERSION = "0.1.0"
