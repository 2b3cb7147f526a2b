// model: parcels that are put into a shelf in order and taken out by any matching address
// verdict: holds
// states: 6663
// rules: 14505
// why: typedef, messages of records, sorted sending, random receiving, polls, for and select

#define SHELF 2

typedef parcel {
	byte address;
	bit urgent
};

chan shelf = [SHELF] of { parcel };
bool taken[3];

active proctype Clerk()
{
	parcel p;
	byte i;

	for (i : 1 .. 4) {
		select (i : 1 .. 4);
		p.address = i % 3;
		p.urgent = i % 2;
		shelf!!p;
		assert(len(shelf) <= SHELF);
		i = 0;
		if
		:: full(shelf) -> break
		:: nfull(shelf)
		fi
	}
}

proctype Customer(byte address)
{
	parcel p;

	do
	:: shelf??[eval(address), _] ->
		atomic {
			shelf??eval(address), p.urgent;
			taken[address] = true
		}
	:: timeout -> break
	od
}

init {
	atomic {
		run Customer(0);
		run Customer(1);
		run Customer(2)
	}
}
