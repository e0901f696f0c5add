// What both applications share. Copied beside them before they run.

// An integer of more than 53 bits is a BigInt in JavaScript, and JSON.stringify needs to be told how to write one.
BigInt.prototype.toJSON = function () {
    return JSON.rawJSON(this.toString());
};

// The headers of each POST, in order.
export const sent = [];

export function fetchAndNote(url, init) {
    if (init?.method === 'POST') {
        sent.push(Object.fromEntries(new Headers(init.headers)));
    }
    return fetch(url, init);
}

// Reads JSON; an integer that a number cannot hold becomes a BigInt.
export function readRequests(text) {
    return JSON.parse(text, (_, value, { source }) =>
        typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(source) : value
    );
}
