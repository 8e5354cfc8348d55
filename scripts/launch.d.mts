/** What tests take of `launch.mjs`, which is plain JavaScript. */
export declare const nodeFlags: ReadonlyArray<string>
