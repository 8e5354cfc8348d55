/** Which Sluice this is: the version of its packages, not that of the interface. */
export const VERSION = "0.1.0"
